import { expect, test } from 'vitest';
import { runCommand } from '../../../src/cli/command-table.ts';
import type { Context } from '../../../src/console/context.ts';
import { EXIT } from '../../../src/core/errors.ts';
import { fleet } from '../../../src/features/fleet/index.ts';
import type { StackCommand, TreeFlags } from '../../../src/features/fleet/request.ts';
import { quietContext } from '../../cli/quiet-context.ts';
import { settings, treeOf } from './tree.ts';

const ALONE = { 'callsheet.yaml': settings(0) };
const TREE = { 'a/callsheet.yaml': settings(0), 'b/callsheet.yaml': settings(1) };

type Row = readonly [
  command: StackCommand,
  files: Readonly<Record<string, string>>,
  flags: Partial<TreeFlags>,
  message: string,
  env?: Context['env'],
];

const rows: readonly Row[] = [
  ['plan', TREE, { recursive: false, shard: '1/4' }, '--shard splits a tree of stacks'],
  ['plan', TREE, { recursive: false, shard: 'x' }, '--shard x is not of the form I/N'],
  ['plan', TREE, { shard: '0/4' }, '--shard 0/4 names part 0 of 4'],
  ['plan', TREE, { shard: '1/0' }, '--shard 1/0 has an invalid number of parts'],
  ['plan', ALONE, { shard: '1/4' }, 'is a single stack'],
  ['plan', {}, {}, 'there is no stack in'],
  ['plan', TREE, { target: ['agent.desk'] }, '--target agent.desk cannot be used with --recursive'],
  ['drift', TREE, { exclude: ['agent', 'agent.x'] }, '--exclude agent.x cannot be used with'],
  ['plan', TREE, { resendSecrets: ['agent.x'] }, '--resend-secrets agent.x cannot be used with'],
  ['plan', TREE, { format: 'html' }, '--format html cannot be used with --recursive'],
  ['drift', TREE, { format: 'new' }, '--format new cannot be used with --recursive'],
  ['drift', TREE, { accept: ['agent'] }, '--accept cannot be used with --recursive'],
  ['apply', TREE, { autoApprove: true, events: 'e.jsonl' }, '--events cannot be used with'],
  ['plan', TREE, {}, 'CALLSHEET_STATE names one state', { CALLSHEET_STATE: 'state.json' }],
];

const cases = rows.map(([command, files, flags, message, env = {}]) => {
  return { command, files, flags, message, env };
});

test.each(cases)('$command with $flags: $message', async (row) => {
  const { command, files, flags, message, env } = row;
  const { context } = quietContext();
  const all = { dir: treeOf(files), format: 'text', recursive: true, ...flags } as const;
  const one = () => Promise.reject(new Error('one stack was worked on'));
  const entry = { name: command, takesTree: true, load: async () => one };
  await expect(runCommand(entry, [], all, { ...context, env }, [fleet])).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringContaining(message),
    hint: expect.stringMatching(/\w/),
  });
});

test('what a plan was allowed stands in the plans of a folder', async () => {
  const { context } = quietContext();
  const flags = { dir: treeOf(TREE), format: 'text', recursive: true, allowDelete: true } as const;
  const one = () => Promise.reject(new Error('one stack was worked on'));
  const entry = { name: 'apply', takesTree: true, load: async () => one };
  await expect(runCommand(entry, ['plans'], flags, context, [fleet])).rejects.toThrow(
    '--allow-delete cannot be used with a plan file',
  );
});

test('without --recursive the command is that of one stack', async () => {
  const { context } = quietContext();
  const flags = { dir: '.', format: 'text' } as const;
  const entry = { name: 'plan', takesTree: true, load: async () => async () => EXIT.changes };
  expect(await runCommand(entry, [], flags, context, [fleet])).toBe(2);
});
