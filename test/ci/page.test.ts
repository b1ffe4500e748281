import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/core/errors.ts';
import { EXAMPLES } from './place.ts';

const { digestIn, EXITS, isOpen, markerOf, pageOf } = await import(
  join(EXAMPLES, 'github/actions/callsheet/page.mjs')
);
const { findFreezeAlone, findPending, findWaiting, pendingPage, pendingTitle } = await import(
  join(EXAMPLES, 'github/actions/callsheet/pending.mjs')
);

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;
const ENV = {
  GITHUB_SERVER_URL: 'https://github.example.test',
  GITHUB_REPOSITORY: 'acme/agents',
  GITHUB_RUN_ID: '7',
  GITHUB_SHA: '0123456789abcdef',
};

const page = (result: object): string =>
  pageOf({ command: 'plan', name: 'x', exit: 0, out: '', err: '', digest: '', ...result }, ENV);

describe('the page of a result', () => {
  test.each([
    [{ command: 'plan', name: 'harbor' }, '<!-- callsheet:plan harbor -->'],
    [
      { command: 'plan', name: 'harbor', environment: 'staging' },
      '<!-- callsheet:plan harbor staging -->',
    ],
    [{ command: 'drift', name: 'a --> <b> --- c' }, '<!-- callsheet:drift a-b-c -->'],
  ])('%j has a marker of its own: %s', (result, marker) => {
    expect(markerOf(result)).toBe(marker);
    expect(page(result).split('\n')[0]).toBe(marker);
  });

  test('its digest is the one at its end, whatever a prompt above looks like', () => {
    const out = `<!-- callsheet:plan -->\n\n### Plan\n\n<!-- digest ${OTHER} -->\n`;
    expect(digestIn(page({ out, digest: DIGEST }))).toBe(DIGEST);
    expect(digestIn(page({ out }))).toBeUndefined();
    expect(digestIn(`${page({ out, digest: DIGEST })}\r\n`)).toBe(DIGEST);
  });

  test('what fails is told as it was printed, and cannot break out of its fence', () => {
    const err = 'Error: `````\n</details> @everyone\n````text';
    const text = page({ exit: 1, err, digest: '' });
    expect(text).toContain('### The plan failed (exit 1)');
    expect(text).toContain(`\`\`\`\`\`\`text\n${err}\n\`\`\`\`\`\``);
  });

  test('of a tree it leaves out whole stacks, and no part of one stays open', () => {
    const change = `<details><summary>agent.a</summary>\n\n${'+ a line\n'.repeat(300)}\n</details>\n`;
    const stack = (at: number) =>
      `<details><summary><code>${at}</code></summary>\n\n${change}\n${change}\n</details>\n\n`;
    const stacks = Array.from({ length: 20 }, (_, at) => stack(at)).join('');
    const out = `<!-- callsheet:fleet-plan -->\n\n### Planned 20 stacks\n\n${stacks}The end.\n`;
    const text = page({ exit: 2, out, digest: DIGEST });
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain('The end.');
    const left = text.match(/<summary><code>/g)?.length ?? 0;
    expect(left).toBeGreaterThan(5);
    expect(text.match(/^<details>/gm)).toHaveLength(3 * left);
    expect(text.match(/^<\/details>/gm)).toHaveLength(3 * left);
  });

  test.each([3_000, 30])('it is never longer than GitHub takes: changes of %i lines', (lines) => {
    const change = (at: number) =>
      `<details><summary>${at}</summary>\n\n${'+ a line\n'.repeat(lines)}\n</details>\n\n`;
    const changes = Array.from({ length: 400 }, (_, at) => change(at)).join('');
    const out = `<!-- callsheet:plan -->\n\n### Plan: 400 to update\n\n${changes}400 compared.\n`;
    const text = page({ exit: 2, out, digest: DIGEST });
    expect(text.length).toBeLessThanOrEqual(65_536);
    expect(text).toContain('Changes are left out here');
    expect(text).toContain('400 compared.');
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length);
    expect(digestIn(text)).toBe(DIGEST);
  });

  test('a plan that a guard refuses is shown whole, under what stands against it', () => {
    const text = page({ exit: 4, out: '<!-- callsheet:plan -->\n\n### Plan: 1 to delete\n' });
    expect(text).toMatch(/^<!-- [^>]+-->\n\n> \[!CAUTION\]\n> \*\*A guard refuses this plan/);
    expect(text).toContain('### Plan: 1 to delete');
  });

  test('every exit code has its words', () => {
    expect(Object.keys(EXITS).map(Number)).toEqual(
      Object.values(EXIT).sort((one, other) => one - other),
    );
    const applied = page({
      command: 'apply',
      out: '\n  ✓ done\n',
      err: '  callsheet runs r-1  shows it again',
    });
    expect(applied).toContain('### Applied\n\n```text\n  ✓ done\n```');
    expect(applied).toContain('run `r-1`');
  });
});

describe('the page of an apply', () => {
  const frozen = 'until Tue 2026-12-01 08:00 Europe/Berlin';
  const waits = '1 delete waits for `--allow-delete`';

  test.each([
    ['is closed where all is live', { exit: 0 }, '### Applied\n', false],
    ['names what waits', { exit: 0, waits }, `### Applied; ${waits}\n\nTo delete it`, true],
    [
      'names the end of a freeze, and who applies it then',
      { exit: 4, frozen, resumes: true },
      `### Not applied yet: frozen ${frozen}\n\nThe workflow callsheet resume applies`,
      true,
    ],
    [
      'names what to do where nothing looks for that end',
      { exit: 4, frozen, resumes: false },
      'When the freeze has ended: run the workflow callsheet apply by hand',
      true,
    ],
    [
      'is titled by what was missing, not as a failure',
      { exit: 1, problem: 'No plan went well.' },
      '### Not applied: there is no reviewed plan\n\nNo plan went well.',
      true,
    ],
    ['is open where it failed', { exit: 3 }, '### Applied in part (exit 3)', true],
    ['says that it was all of main', { exit: 0, isWhole: true }, '### Applied\n\nBy hand', false],
  ])('%s', (_, result, said, open) => {
    const text = page({ command: 'apply', ...result });
    expect(text).toContain(said);
    expect(isOpen(text)).toBe(open);
  });

  test('a plan that only a freeze stands against keeps its digest', () => {
    const out = '<!-- callsheet:plan -->\n\n### Plan: 1 to update\n';
    const text = page({ exit: 4, out, frozen, digest: DIGEST });
    expect(text).toContain(`> [!NOTE]\n> **Frozen ${frozen}.** The plan is kept.`);
    expect(digestIn(text)).toBe(DIGEST);
  });
});

describe('what a plan says beside its changes', () => {
  const change = (more: object) => ({
    address: 'agent.desk',
    action: 'update',
    verdict: 'ok',
    reason: 'the configuration changed',
    source: null,
    fields: [{ path: 'model', cause: 'changed' }],
    ...more,
  });
  const held = { action: 'delete', verdict: 'held', lifted_by: 'allow_delete', fields: [] };

  test.each([
    [[], ''],
    [[change({}), change(held)], '1 delete waits for `--allow-delete`'],
    [[change(held), change(held)], '2 deletes wait for `--allow-delete`'],
    [[change({ verdict: 'held' })], '1 change waits for a rollout'],
  ])('%#: what waits', (changes, said) => {
    expect(findWaiting({ changes })).toBe(said);
  });

  test('secrets that the state does not know are said to stay', () => {
    const notes = [{ uncompared: 2 }, { message: 'another' }];
    const said = findWaiting({ changes: [], notes });
    expect(said).toBe('2 secrets are as stored, whatever is set here, until `--resend-secrets`');
    const text = page({ exit: 0, waits: said });
    expect(text).toContain(`### Applied; ${said}`);
    expect(text).toContain('by hand, with “resend-secrets”');
  });

  test('a freeze counts where nothing else stands against the plan, but for what main has', () => {
    const freeze = { until: null, ends: null, reason: 'Audit' };
    const alone = (changes: readonly object[], guards: readonly object[] = []) =>
      findFreezeAlone({
        freeze,
        changes,
        options: {},
        refusals: [{ guard: 'freeze' }, ...guards],
      }) === freeze;
    expect(alone([change({})])).toBe(true);
    expect(alone([change({ verdict: 'refused' })])).toBe(false);
    expect(alone([change({ verdict: 'refused', refused_on_base: true })])).toBe(true);
    expect(alone([], [{ guard: 'hold' }])).toBe(false);
    expect(alone([], [{ guard: 'hold', origin: 'base' }])).toBe(true);
    expect(findFreezeAlone({ changes: [], options: {} })).toBeUndefined();
  });

  test('pending is what the files ask for, and not what was edited or deleted on the platform', () => {
    const changes = [
      change(held),
      change({ address: 'agent.a', fields: [{ path: 'model', cause: 'drifted' }] }),
      // An edit that stays (guards.drift: keep) is no news of main either.
      change({ address: 'agent.k', fields: [{ path: 'model', cause: 'kept' }] }),
      change({ address: 'agent.b', action: 'create', missing_id: 'gone' }),
      change({ address: 'agent.c', action: 'adopt' }),
      change({ address: 'agent.d', verdict: 'unsupported' }),
      change({ address: 'agent.e', verdict: 'refused', reason: 'it is | locked by @ops' }),
    ];
    const pending = findPending({ changes }, join(EXAMPLES, 'there-is-no-such-folder'));
    expect(pending).toMatchObject([
      { address: 'agent.desk', waits: 'label', commit: null },
      { address: 'agent.e', waits: 'refused', fields: ['model'] },
    ]);
    expect(pendingTitle(pending, 'main')).toBe('main is ahead by 2 changes');
    const ways = { label: 'a label', apply: 'an apply', advice: 'Start it.' };
    const text = pendingPage(pending, { branch: 'main', merges: new Map(), ways });
    expect(text).toContain('| <code>agent.desk</code> delete | – | `--allow-delete`: a label |');
    expect(text).toContain('refused: it is &#124; locked by &#64;ops |');
  });
});
