import { spawn } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../temporary.ts';
import { EXAMPLES } from './place.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

/** The action's script, with a Callsheet that does what `body` says. */
function start(command: string, body: string, more: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  const file = (name: string) => join(folder, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  writeFileSync(file('callsheet'), `#!/bin/sh\necho "$*" > "${file('args')}"\n${body}\n`);
  chmodSync(file('callsheet'), 0o755);
  for (const name of ['output', 'summary']) writeFileSync(file(name), '');
  const child = spawn(process.execPath, [join(EXAMPLES, 'github/actions/callsheet/run.mjs')], {
    env: {
      PATH: `${folder}:${dirname(process.execPath)}:${process.env.PATH}`,
      COMMAND: command,
      NAME: 'harbor',
      PLAN_FILE: file('plan.json'),
      CALLSHEET_STATE: 's3://states/harbor.json',
      RUNNER_TEMP: file('temp'),
      GITHUB_OUTPUT: file('output'),
      GITHUB_STEP_SUMMARY: file('summary'),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  const said = (pattern: RegExp) =>
    new Promise<void>((resolve, reject) => {
      child.stdout.on('data', () => pattern.test(log) && resolve());
      child.on('close', () => reject(new Error(`it never said ${pattern}:\n${log}`)));
    });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      log += text;
    });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const output = (name: string) =>
    new RegExp(`^${name}<<(.+)\n([^]*?)\n\\1$`, 'm').exec(read('output'))?.[2];
  return { child, said, ended, output, read, log: () => log };
}

const PAGE = `echo '<!-- callsheet:plan -->'; echo; echo '### Plan'; `;
const PLAN = `${PAGE} echo '{"digest":"${DIGEST}"}' > "$PLAN_FILE"; `;

test.each<[string, number, string, number, string]>([
  ['plan', 0, PLAN, 0, '### Plan'],
  ['plan', 1, 'echo "Error: no" >&2; ', 1, '### The plan failed (exit 1)'],
  ['plan', 2, PLAN, 0, '### Plan'],
  ['plan', 4, PLAN, 4, '**A guard refuses this plan (exit 4).**'],
  ['plan', 130, '', 130, '### The plan was interrupted (exit 130)'],
  ['apply', 0, 'echo ✓; ', 0, '### Applied'],
  ['apply', 1, 'echo "Error: no" >&2; ', 1, '### The apply failed (exit 1)'],
  ['apply', 3, 'echo ✗; ', 3, '### Applied in part (exit 3)'],
  ['apply', 4, '', 4, '### Not applied: a guard refuses the plan (exit 4)'],
  ['apply', 5, '', 5, '### Not applied as reviewed: the plan is stale (exit 5)'],
  ['apply', 6, '', 6, '### Not applied: another run has the state (exit 6)'],
  ['drift', 0, PAGE, 0, '### Plan'],
  ['drift', 1, '', 1, '### Drift is unknown (exit 1)'],
  ['drift', 2, PAGE, 0, '### Plan'],
  ['rollout-start', 1, 'echo "Error: no" >&2; ', 1, '### The rollout failed (exit 1)'],
  ['rollout-start', 2, PAGE, 0, '### Plan'],
  ['rollout-start', 5, '', 5, '### Not started as reviewed: the plan is stale (exit 5)'],
  ['rollout-run', 0, PAGE, 0, '### Plan'],
  ['rollout-run', 2, PAGE, 0, '### Plan'],
  ['rollout-run', 3, PAGE, 3, '**Rolled back (exit 3).**'],
  ['rollout-run', 4, PAGE, 4, '**Held, or refused by a guard (exit 4).**'],
  ['rollout-promote', 2, PAGE, 0, '### Plan'],
  ['rollout-abort', 0, PAGE, 0, '### Plan'],
])('%s that ends with %i', async (command, exit, body, job, title) => {
  const run = start(command, `${body}exit ${exit}`);
  expect(await run.ended, run.log()).toBe(job);
  expect(run.output('exit-code')).toBe(String(exit));
  const page = command.startsWith('rollout-') ? 'rollout' : command;
  expect(run.read(`temp/callsheet/${page}.md`).split('\n')).toContain(
    title.startsWith('**') ? '> [!CAUTION]' : title,
  );
  expect(run.read('summary')).toContain(title);
  expect(run.output('digest')).toBe(body === PLAN && job === 0 ? DIGEST : '');
  const level = job !== 0 ? 'error' : command === 'drift' && exit === 2 ? 'warning' : undefined;
  expect(/^::(error|warning) title=/m.exec(run.log())?.[1]).toBe(level);
});

test('a freeze ends by itself: a plan is kept, and an apply is started again', async () => {
  const frozen = { ends: 'Mon 06:00 Etc/UTC' };
  const kept = {
    digest: DIGEST,
    freeze: frozen,
    refusals: [{ guard: 'freeze' }],
    changes: [],
    options: {},
  };
  // With --base what main has, too, does not decide the exit code.
  for (const exit of [4, 2]) {
    const plan = start(
      'plan',
      `${PAGE}echo '${JSON.stringify(kept)}' > "$PLAN_FILE"; exit ${exit}`,
    );
    expect(await plan.ended, plan.log()).toBe(0);
    expect([plan.output('digest'), plan.output('frozen')]).toEqual([
      DIGEST,
      `until ${frozen.ends}`,
    ]);
    expect(plan.read('summary')).toContain(
      '> **Frozen until Mon 06:00 Etc/UTC.** The plan is kept.',
    );
    expect(plan.log()).toContain('::warning title=Frozen until Mon 06%3A00 Etc/UTC::');
  }
  const said = (ends: string) =>
    `echo 'Nothing was written: guards.freeze is in force ${ends}: "Audit" (callsheet.yaml:9).' >&2; exit 4`;
  for (const ends of ['until Mon 2026-11-23 06:00 Etc/UTC', 'with no end within a year']) {
    const apply = start('apply', said(ends));
    expect(await apply.ended, apply.log()).toBe(0);
    expect(apply.output('frozen')).toBe(ends);
    expect(apply.read('summary')).toContain(`### Not applied yet: frozen ${ends}`);
  }
  const asked = start('freeze', `echo '${JSON.stringify({ freeze: frozen })}'`);
  expect(await asked.ended, asked.log()).toBe(0);
  expect(asked.output('frozen')).toBe('until Mon 06:00 Etc/UTC');
  expect(asked.output('resumes')).toBe('false');
});

test('flags, environment and digest are words of their own, whatever is in them', async () => {
  const run = start('apply', 'exit 0', {
    ENVIRONMENT: 'staging; touch x',
    EXPECT: DIGEST,
    FLAGS: '--var\nname=$(id) x\n\n  --verbose  \n',
  });
  expect(await run.ended, run.log()).toBe(0);
  expect(run.read('args').trim()).toMatch(
    /^apply \S+plan\.json --no-color --expect sha256:a+ --env staging; touch x --var name=\$\(id\) x --verbose$/,
  );
});

test('a rollout is named, and where none is under way no page is written', async () => {
  const run = start('rollout-run', 'echo "No rollout is under way."; exit 0', {
    ROLLOUT: 'careful',
  });
  expect(await run.ended, run.log()).toBe(0);
  expect(run.read('args').trim()).toBe('rollout run careful --format markdown --lock-timeout 10m');
  expect(run.output('report')).toBeUndefined();
  const begun = start('rollout-start', `${PAGE}exit 2`, { ROLLOUT: 'careful', EXPECT: DIGEST });
  expect(await begun.ended, begun.log()).toBe(0);
  expect(begun.read('args').trim()).toMatch(
    /^rollout start \S+plan\.json --format markdown --lock-timeout 10m --expect sha256:a+ --rollout careful$/,
  );
});

test('a rollout whose state would go with the job is not begun', async () => {
  const run = start('rollout-start', `${PAGE}exit 2`, { CALLSHEET_STATE: '' });
  expect(await run.ended, run.log()).toBe(1);
  expect(run.log()).toContain('its state needs a store: callsheet help stores');
});

test('what Callsheet prints is no command to the runner', async () => {
  const run = start('plan', 'echo "::add-mask::x"; exit 1');
  await run.ended;
  expect(run.log()).toMatch(/^::stop-commands::(\S+)\n::add-mask::x\n\n::\1::\n::error /);
});

test('an interrupt reaches Callsheet, which ends its run cleanly', async () => {
  const body = `trap 'kill $!; echo "1 not attempted"; exit 130' INT; echo begun; sleep 60 & wait`;
  const run = start('apply', body);
  await run.said(/begun/);
  run.child.kill('SIGINT');
  expect(await run.ended, run.log()).toBe(130);
  expect(run.read('temp/callsheet/apply.md')).toContain('### Interrupted (exit 130)');
  expect(run.read('temp/callsheet/apply.md')).toContain('1 not attempted');
});
