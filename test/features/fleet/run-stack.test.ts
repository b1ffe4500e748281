import { expect, test } from 'vitest';
import { readPlanFile } from '../../../src/console/plan.ts';
import type { StackCommand } from '../../../src/features/fleet/request.ts';
import { runStack } from '../../../src/features/fleet/run-stack.ts';
import { agents, contextFor, platform, settings, treeOf } from './tree.ts';

async function scene(files: Readonly<Record<string, string>>, stop?: AbortSignal) {
  const sim = await platform();
  const { context, said } = contextFor(sim, stop);
  const stack = { path: 'harbor', dir: treeOf(files) };
  const run = (command: StackCommand, file?: string) => {
    const plan = file === undefined ? undefined : () => readPlanFile(file);
    return runStack({ command, stack, flags: { autoApprove: true }, plan }, context);
  };
  return { sim, said, run };
}

const GOOD = { 'callsheet.yaml': settings(0), 'agents.yaml': agents('Front desk') };

test('a command of a stack gives its exit and its document, and prints nothing', async () => {
  const { said, run } = await scene(GOOD);
  expect(await run('validate')).toMatchObject({
    path: 'harbor',
    exit: 0,
    document: { format: 'callsheet-diagnostics', counts: { errors: 0 } },
    error: undefined,
  });
  expect(await run('plan')).toMatchObject({
    exit: 0,
    document: { format: 'callsheet-plan', summary: { create: 1 } },
  });
  expect(await run('apply')).toMatchObject({
    exit: 0,
    document: { format: 'callsheet-run', status: 'done', ledger: [{ status: 'done' }] },
    said: expect.stringMatching(/^There is no state at \S+: a first run, or another place/),
  });
  expect(await run('drift')).toMatchObject({ exit: 0, document: { changes: [] } });
  expect(said).toEqual({ out: '', err: '' });
});

test('a failure is a result like any other', async () => {
  const { run } = await scene({ ...GOOD, 'agents.yaml': 'agents: { desk: { nmae: Desk } }' });
  const { exit, document, error, said } = await run('plan');
  expect({ exit, document }).toEqual({ exit: 1, document: undefined });
  expect(error).toMatchObject({ kind: 'config', exit: 1 });
  expect(error?.diagnostics[0]?.position).toMatchObject({ file: 'agents.yaml', line: 1 });
  expect(said).toContain('nmae');
});

test('a plan file that is not there is a failure of that stack', async () => {
  const { run } = await scene(GOOD);
  expect(await run('apply', '/nowhere/plan.json')).toMatchObject({
    exit: 1,
    error: { kind: 'usage', message: expect.stringContaining('does not exist') },
  });
});

test('after an interrupt nothing is begun', async () => {
  const { sim, run } = await scene(GOOD, AbortSignal.abort());
  expect(await run('apply')).toMatchObject({ exit: 130, error: { kind: 'interrupted' } });
  expect(sim.requests).toEqual([]);
});
