import { expect, test } from 'vitest';
import {
  type FleetDocument,
  type FleetStack,
  renderFleetMarkdown,
  renderFleetText,
} from '../../src/render/fleet.ts';

const TERMINAL = { width: 80, color: false, verbose: false };

function stack(path: string, more: Partial<FleetStack> = {}): FleetStack {
  return {
    path,
    status: 'changes',
    exit: 0,
    counts: { create: 1 },
    plan_digest: null,
    plan_file: null,
    run: null,
    reason: null,
    error: null,
    ...more,
  };
}

function fleet(stacks: readonly FleetStack[], more: Partial<FleetDocument> = {}): FleetDocument {
  const totals: { [status: string]: number } = {};
  for (const { status } of stacks) totals[status] = (totals[status] ?? 0) + 1;
  return {
    format: 'callsheet-fleet',
    version: 1,
    command: 'plan',
    found: stacks.length,
    shard: null,
    exit: 0,
    digest: null,
    totals,
    stacks,
    ...more,
  };
}

const QUIET = { status: 'unchanged', counts: { no_op: 3 } } as const;

test('of very many stacks only those are listed that something is to be said of', () => {
  const many = Array.from({ length: 400 }, (_, at) =>
    stack(`clinics/${at}`, at === 7 ? {} : QUIET),
  );
  expect(renderFleetText(fleet(many), TERMINAL)).toBe(
    [
      '── 400 stacks ──────────────────────────────────────────────────────────────────',
      '',
      '  ~ clinics/7  changes      1 to create',
      '  ⋯ 399 unchanged; --verbose lists them',
      '',
      'Planned 400 stacks: 1 with changes, 399 unchanged; 1 to create.',
      '',
    ].join('\n'),
  );
  const all = renderFleetText(fleet(many), { ...TERMINAL, verbose: true });
  expect(all.match(/unchanged$/gm)).toHaveLength(399);
});

test('a long path has a line of its own, and nothing goes beyond the width', () => {
  const path = `regions/${'north-'.repeat(8)}west/clinics/harbor`;
  const text = renderFleetText(fleet([stack(path), stack('a')]), TERMINAL);
  expect(text).toContain(`  ~ ${path}\n`);
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

test('a path is a name that somebody chose: it moves no cursor and makes no markup', () => {
  const evil = stack('a/\u001b[2J|<b>@everyone');
  const text = renderFleetText(fleet([evil]), TERMINAL);
  expect(text).not.toContain('\u001b');
  const page = renderFleetMarkdown(fleet([evil]), []);
  expect(page).not.toContain('<b>');
  expect(page).not.toContain('\u001b');
  expect(page.split('\n').filter((line) => line.startsWith('| <code>'))).toHaveLength(1);
});

test('a comment is never longer than it may be, and says what is missing', () => {
  const many = Array.from({ length: 3000 }, (_, at) => stack(`clinics/${at}`));
  const pages = many.map(({ path }) => ({
    path,
    text: `<!-- callsheet:plan -->\n\n${'x'.repeat(500)}`,
  }));
  for (const limit of [65_536, 5000]) {
    const page = renderFleetMarkdown(fleet(many), pages, { limit });
    expect(page.length).toBeLessThanOrEqual(limit);
    expect(page).toMatch(/_[\d,]+ more stacks: the job's log lists them\._/);
    expect(page).toContain('do not fit in a comment');
  }
});

test('a page is found by a mark of its own, one for each shard', () => {
  const pages = [{ path: 'a', text: '<!-- callsheet:plan stack=a -->\n\n### Plan: 1 to create\n' }];
  const one = fleet([stack('a')], { shard: { index: 2, count: 4 }, found: 9 });
  const page = renderFleetMarkdown(one, pages, { stack: 'fleet', environment: 'staging' });
  expect(page.split('\n')[0]).toBe(
    '<!-- callsheet:fleet-plan shard=2/4 stack=fleet env=staging -->',
  );
  expect(page.match(/<!--/g)).toHaveLength(1);
  expect(page).toContain('### Planned 1 of 9 stacks (shard 2/4)');
});

test('the digest stands whole on a narrow terminal, as --expect takes it', () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;
  const text = renderFleetText(fleet([stack('a')], { digest }), { ...TERMINAL, width: 60 });
  expect(text.trimEnd().split('\n').at(-1)).toBe(digest);
});

test('a stack that could not be planned has a section with all that is wrong with it', () => {
  const problem = {
    severity: 'error',
    rule: 'schema/unknown',
    message: 'agent.desk has no field "<b>"',
    hint: 'Remove it',
    position: { file: 'agents.yaml', line: 3, column: 1 },
  } as const;
  const error = {
    kind: 'config',
    exit: 1,
    message: 'it is wrong',
    hint: 'See `callsheet validate`',
    request: null,
  } as const;
  const broken = [
    stack('b', { status: 'failed', error: { ...error, diagnostics: [problem, problem] } }),
    stack('c', { status: 'failed', error: { ...error, diagnostics: [] } }),
  ];
  const page = renderFleetMarkdown(fleet([stack('a'), ...broken]), [{ path: 'a', text: 'Plan' }]);
  const sections = page.split('<details>').slice(1);
  expect(sections.map((one) => /<code>(\w)<\/code>/.exec(one)?.[1])).toEqual(['a', 'b', 'c']);
  expect(sections[1]?.match(/^- <code>agents\.yaml:3<\/code> .*<br>Remove it$/gm)).toHaveLength(2);
  expect(sections[2]).toContain('it is wrong\nSee <code>callsheet validate</code>');
  expect(page).not.toContain('<b>');
});
