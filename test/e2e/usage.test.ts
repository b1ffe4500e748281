import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, inject, test } from 'vitest';
import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import { computeDigest } from '../../src/core/digest.ts';
import { applied, scenario } from './harness.ts';

/** Wrong command lines, and what is said of them. */
const wrong: readonly (readonly [readonly string[], RegExp])[] = [
  [['aply'], /unknown command 'aply': did you mean `callsheet apply`\?/],
  [
    ['plan', '--detailed-exitcod'],
    /unknown option '--detailed-exitcod': did you mean --detailed-exitcode\?/,
  ],
  [['plan', '--format', 'yaml'], /'yaml' is invalid: allowed choices are text, json, markdown/],
  [['plan', '--concurrency', '0'], /--concurrency[\s\S]*at least 1/],
  [['plan', '--concurrency', 'many'], /--concurrency[\s\S]*whole number/],
  [['plan', '--var', 'base_url'], /--var base_url is not of the form name=value/],
  [['plan', 'extra'], /too many arguments/],
  [['plan', '--out'], /argument missing/],
  [['apply', 'none.json'], /the plan file none\.json does not exist/],
  [['apply', 'callsheet.yaml'], /callsheet\.yaml is not a plan: it is not JSON/],
  [['runs', 'nope'], /run nope is not recorded/],
  [['plan', '--dir', 'nowhere'], /nowhere/],
  [['plan', '--out', 'nowhere/plan.json'], /nowhere\/plan\.json/],
  [['apply', '--auto-approve', '--events', 'nowhere/events.jsonl'], /nowhere\/events\.jsonl/],
  [['simulate', '--seed', 'none.yaml'], /the seed file none\.yaml cannot be read/],
];

for (const [index, [args, message]] of wrong.entries()) {
  // What one process says of each; the words themselves are tested without one.
  const isLong = index % 3 !== 0;
  scenario(
    `callsheet ${args.join(' ')}: a sentence, and exit 1`,
    async (world) => {
      const { err } = await world.run(args, { exit: 1 });
      expect(err).toMatch(message);
      expect(err).not.toMatch(/\n\s+at |Callsheet itself failed/);
      expect(world.writes()).toEqual([]);
    },
    { isLong },
  );
}

test('a current folder that was removed is told in a sentence', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'rmdir "$PWD"; exec "$@"', 'sh', process.execPath, inject('bin'), 'plan'],
    { cwd: mkdtempSync(join(tmpdir(), 'removed-')), encoding: 'utf8' },
  );
  expect([status, stderr.split('\n')[0]]).toEqual([1, 'Error: the current folder was removed']);
  expect(stderr).not.toContain('Callsheet itself failed');
});

scenario('a file that cannot be written stops a run before it begins', async (world) => {
  const args = ['apply', '--auto-approve', '--events', 'nowhere/events.jsonl'];
  await world.run(args, { exit: 1 });
  expect(JSON.parse((await world.run(['runs', '--format', 'json'])).out).runs).toEqual([]);
  expect((await world.run(['plan'])).err).toMatch(/^There is no state at \S+: a first run, or/);
});

scenario('apply without a terminal and without --auto-approve writes nothing', async (world) => {
  const { err } = await world.run(['apply'], { exit: 1 });
  expect(err).toContain('approval is needed, and there is no terminal to ask on');
  expect(err).toContain('--auto-approve');
  expect(world.writes()).toEqual([]);
});

applied('apply without a terminal is done where there is nothing to change', async (world) => {
  const { out } = await world.run(['apply']);
  expect(out).toMatch(/^No changes/);
});

scenario('help and version are answers', async (world) => {
  const { out: version } = await world.run(['--version']);
  expect(version).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  const { out: help } = await world.run(['--help']);
  for (const command of ['validate', 'plan', 'apply', 'rollback', 'drift', 'runs', 'simulate'])
    expect(help).toContain(`  ${command}`);
  const { out } = await world.run(['help', 'plan']);
  expect(out).toContain('--detailed-exitcode');
  await world.run([], { exit: 1 });
});

scenario('--format json prints documents that are what the schemas say', async (world) => {
  const validate = new Ajv2020({ allowUnionTypes: true, formats: { 'date-time': true } }).compile(
    schema,
  );
  const check = (text: string) => {
    const document = JSON.parse(text);
    expect(validate(document) ? [] : validate.errors).toEqual([]);
    return document;
  };
  check((await world.run(['plan', '--format', 'json', '--out', 'plan.json'])).out);
  check(await world.read('plan.json'));
  const run = JSON.parse((await world.apply(['--format', 'json'])).out);
  expect(run).toMatchObject({ format: 'callsheet-run', version: 1, status: 'done' });
  world.sim.edit(world.agent('Front desk'), { greeting_message: 'Edited.' });
  check((await world.run(['drift', '--format', 'json'])).out);
  expect(JSON.parse((await world.run(['validate', '--format', 'json'])).out)).toEqual({
    format: 'callsheet-diagnostics',
    version: 1,
    counts: { errors: 0, warnings: 0 },
    diagnostics: [],
  });
});

applied('--format json gives JSON when there is nothing to do, too', async (world) => {
  const { out } = await world.run(['apply', '--auto-approve', '--format', 'json']);
  expect(JSON.parse(out)).toMatchObject({ format: 'callsheet-run', status: 'done', ledger: [] });
});

applied('--format json gives one JSON document when it fails, too', async (world) => {
  const rows = [
    [['plan', '--target', 'agent.dsek'], 1, { kind: 'usage', exit: 1 }],
    [['apply', 'none.json'], 1, { kind: 'usage', hint: expect.stringContaining('--out') }],
    [['apply'], 1, { kind: 'usage' }],
    [['rollback', 'none'], 1, { kind: 'usage' }],
  ] as const;
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  for (const [args, exit, error] of rows) {
    const { out, err } = await world.run([...args, '--format', 'json'], { exit });
    expect(JSON.parse(out)).toMatchObject({ format: 'callsheet-error', version: 1, error });
    expect(err).toMatch(/^Error: /);
  }
  const env = { CALLSHEET_CLIENT_SECRET: 'wrong' };
  const { out } = await world.run(['plan', '--format', 'json'], { exit: 1, env });
  expect(JSON.parse(out).error).toMatchObject({ kind: 'api', exit: 1 });
});

applied('the process ends as its command: exit code, results and messages apart', async (world) => {
  await world.edit('agents.yaml', 'how can I help?', 'good day!');
  const rows = [
    [['plan', '--detailed-exitcode'], 2, /1 agent changes/, /^$/],
    [['apply', '--auto-approve', '--target', 'agent.dsek'], 1, /^$/, /^Error: /],
    [['apply', '--auto-approve', '--expect', computeDigest('other')], 5, /^$/, /^Error: /],
    [['validate'], 0, /valid: 8 resources/, /^$/],
    [['--version'], 0, /^\d+\.\d+\.\d+\S*\n$/, /^$/],
  ] as const;
  for (const [args, exit, out, err] of rows) {
    const ended = await world.start(args).ended;
    expect(ended).toEqual({
      ...{ args, exit, signal: null },
      ...{ out: expect.stringMatching(out), err: expect.stringMatching(err) },
    });
  }
});

applied('a reader that goes away ends it quietly', async (world) => {
  const running = world.start(['plan', '--verbose', '--format', 'json']);
  running.closeOutput();
  const { exit, signal, err } = await running.ended;
  expect([exit, signal]).toEqual([0, null]);
  expect(err).toMatch(/^2 of 8 resources were not read, [^\n]*\n$/);
});

scenario('colours only where they are wanted', async (world) => {
  const csi = '\u001b[';
  const rows: readonly (readonly [Readonly<Record<string, string>>, readonly string[], boolean])[] =
    [
      [{}, [], false],
      [{ FORCE_COLOR: '1' }, [], true],
      [{ FORCE_COLOR: '1', NO_COLOR: '1' }, [], false],
      [{ FORCE_COLOR: '1' }, ['--no-color'], false],
    ];
  for (const [env, flags, isColored] of rows) {
    const { out } = await world.run(['plan', ...flags], { env });
    expect(out.includes(csi), JSON.stringify([env, flags])).toBe(isColored);
  }
});

scenario('--quiet leaves results and errors, and nothing else', async (world) => {
  const { out, err } = await world.run(['apply', '--auto-approve', '--quiet']);
  expect(out).toContain('Done: 8 created');
  expect(err).toBe('');
  const failed = await world.run(['plan', '--quiet'], {
    env: { CALLSHEET_CLIENT_SECRET: 'wrong' },
    exit: 1,
  });
  expect(failed.err).toContain('the platform refused the credentials');
});

scenario('--events records every step of a run, one JSON a line', async (world) => {
  await world.apply(['--events', 'events.jsonl']);
  const events = (await world.read('events.jsonl'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const types = events.map(({ type }) => type);
  expect(types.at(0)).toBe('run_started');
  expect(types.at(-1)).toBe('run_ended');
  expect(types.filter((type) => type === 'change_ended').length).toBe(8);
  expect(types.filter((type) => type === 'request_sent').length).toBe(world.writes().length);
});

scenario('a target that names nothing is an error, not an empty plan', async (world) => {
  const { err } = await world.run(['plan', '--target', 'agent.dask'], { exit: 1 });
  expect(err).toContain(
    '--target agent.dask matches no resource of this stack\nDid you mean agent.desk?',
  );
});

scenario('an old Node is named, with the one that is needed', async (world) => {
  const old = `Object.defineProperty(process.versions, 'node', { value: '20.9.0' })`;
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(old)}` };
  const { exit, err } = await world.start(['plan'], { env }).ended;
  expect(exit).toBe(1);
  expect(err).toMatch(/^Callsheet needs Node 2\d\.\d+ or newer, and this is 20\.9\.0\./);
  expect(world.writes()).toEqual([]);
});
