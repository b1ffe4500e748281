import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { EXIT } from '../../../src/core/errors.ts';
import { withReason } from '../../long.ts';
import { temporaryFolder } from '../../temporary.ts';
import { type Both, claimOf, NOTHING_SEEN, openBoth, type Sample, STACK } from './scrapes.ts';

/**
 * The alerts of `examples/prometheus/`, over what `watch` and `worker` really print. Where `promtool` is there,
 * Prometheus itself evaluates them over recorded scrapes. Everywhere each expression must find series at all: alerts
 * that cannot fire named a label that there is not, or a series that is not there when it matters.
 */

const RULES = join(import.meta.dirname, '../../../examples/prometheus/callsheet.rules.yaml');
const START = Date.parse('2026-11-22T00:00:00Z');
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
};
const { groups }: { readonly groups: readonly { readonly rules: readonly Rule[] }[] } = parse(
  readFileSync(RULES, 'utf8'),
);
const rules = groups.flatMap((group) => group.rules);

afterEach(() => {
  vi.useRealTimers();
});

type Scenario = {
  readonly fires: readonly string[];
  readonly when: string;
  readonly minutes: number;
  /** What happens at each minute, instead of a pass, a look at the queue and a request that all go well. */
  readonly at: (minute: number, both: Both) => Promise<void> | void;
  readonly isUp?: (minute: number) => boolean;
};

function isoTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** When the step of a rollout was applied. */
function stepAt(at: number | null) {
  return { steps: [{ agents: 3, at: at === null ? null : isoTime(at), runs: ['r'] }] };
}

async function goesWell(minute: number, both: Both): Promise<void> {
  if (minute % 5 === 0) both.pass();
  both.look();
  await both.answered(200);
}

const beside =
  (more: Scenario['at']): Scenario['at'] =>
  async (minute, both) => {
    await goesWell(minute, both);
    await more(minute, both);
  };

const SCENARIOS: readonly Scenario[] = [
  { fires: [], when: 'everything goes well', minutes: 60, at: goesWell },
  {
    fires: ['CallsheetDown'],
    when: 'nothing answers',
    minutes: 10,
    at: goesWell,
    isUp: (minute) => minute < 3,
  },
  {
    fires: ['CallsheetRateLimited'],
    when: 'one of five requests is refused',
    minutes: 40,
    at: beside(async (minute, both) => both.answered(minute % 4 === 0 ? 429 : 200)),
  },
  {
    fires: ['CallsheetBlind'],
    when: 'the first pass and all after it fail',
    minutes: 40,
    at: (_, both) => {
      both.failedPass();
      both.look();
    },
  },
  {
    fires: ['CallsheetBlind'],
    when: 'passes fail after some that went well',
    minutes: 50,
    at: (minute, both) => {
      both.look();
      return minute < 10 ? both.pass() : both.failedPass();
    },
  },
  {
    fires: ['CallsheetDrift'],
    when: 'resources drifted',
    minutes: 25,
    at: beside((minute, both) => {
      if (minute > 5) both.pass({ drifted: 2 });
    }),
  },
  {
    fires: ['CallsheetContested'],
    when: 'somebody fights back',
    minutes: 10,
    at: beside((_, both) => both.pass({ contested: 1 })),
  },
  {
    fires: ['CallsheetHealFails'],
    when: 'a healing fails once',
    minutes: 20,
    at: beside((minute, both) => {
      if (minute === 10) both.watch.healEnded('failed');
    }),
  },
  {
    fires: ['CallsheetNotificationsFail'],
    when: 'a notification does not arrive once',
    minutes: 20,
    at: beside((minute, both) => {
      if (minute === 10) both.watch.notified(false);
    }),
  },
  {
    fires: ['CallsheetNotApplied'],
    when: 'a change is not applied for a day',
    minutes: 1450,
    at: (_, both) => {
      both.pass({ pending: 1 });
      both.look();
    },
  },
  {
    fires: ['CallsheetRolloutHeld'],
    when: 'a rollout is held, and stays so for hours',
    minutes: 300,
    at: beside((_, both) => both.pass({}, { status: 'held' })),
  },
  {
    fires: ['CallsheetRolloutOverdue'],
    when: 'the step of a rollout takes more than a week',
    minutes: 20,
    at: beside((_, both) => both.pass({}, stepAt(START - 8 * DAY))),
  },
  {
    fires: ['CallsheetRolloutOverdue'],
    when: 'a rollout could not be applied for a week, though it is run each hour',
    minutes: 20,
    at: beside((_, both) =>
      both.pass({}, { status: 'applying', ...stepAt(null), started_at: isoTime(START - 8 * DAY) }),
    ),
  },
  {
    fires: [],
    when: 'a rollout ended long ago, as it was overdue',
    minutes: 20,
    at: beside((minute, both) => {
      const status = minute < 3 ? 'judging' : 'done';
      both.pass({}, { status, ...stepAt(START - 8 * DAY) });
    }),
  },
  {
    fires: ['CallsheetQueueAway'],
    when: 'the queue never answers',
    minutes: 5,
    at: (_, both) => both.pass(),
  },
  {
    fires: ['CallsheetQueueOld'],
    when: 'nobody takes a stack for an hour',
    minutes: 80,
    at: beside((minute, both) => both.look(minute * 60)),
  },
  {
    fires: ['CallsheetStacksFail'],
    when: 'a stack fails',
    minutes: 20,
    at: beside((minute, both) => {
      if (minute !== 10) return;
      const result = {
        path: STACK,
        exit: EXIT.error,
        document: undefined,
        error: undefined,
        said: '',
      };
      const claim = claimOf();
      both.happened({ type: 'settled', claim, result, isWell: false, seconds: 1 });
    }),
  },
  {
    fires: ['CallsheetWorkersDie'],
    when: 'workers fall silent again and again',
    minutes: 20,
    at: beside((_, both) => both.happened({ type: 'began', claim: claimOf({ isSuspect: true }) })),
  },
  {
    fires: ['CallsheetLeasesLost'],
    when: 'a living worker is taken for dead',
    minutes: 20,
    at: beside((minute, both) => {
      if (minute === 10) both.happened({ type: 'taken', claim: claimOf() });
    }),
  },
  {
    fires: ['CallsheetStoreSlow'],
    when: 'the queue takes three seconds to answer',
    minutes: 40,
    at: beside(async (_, both) => both.asked(() => vi.advanceTimersByTime(3000))),
  },
];

/** What Prometheus scrapes in so many minutes, minute by minute. */
async function record({ minutes, at, isUp = () => true }: Scenario) {
  vi.useFakeTimers({ toFake: ['Date', 'hrtime'], now: START });
  const both = openBoth(() => new Date());
  const scrapes: (readonly Sample[])[] = [await both.scrape()];
  for (let minute = 0; minute < minutes; minute += 1) {
    vi.setSystemTime(START + (minute + 1) * MINUTE);
    await at(minute, both);
    scrapes.push(await both.scrape(isUp(minute)));
  }
  vi.useRealTimers();
  return scrapes;
}

test('each alert has a scenario in which it fires', () => {
  const fired = new Set(SCENARIOS.flatMap(({ fires }) => fires));
  expect([...fired].sort()).toEqual(rules.map(({ alert }) => alert).sort());
});

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test.skipIf(!hasPromtool)(
  withReason(
    'Prometheus fires each alert when it is to, and no other',
    hasPromtool,
    'there is no promtool in PATH',
  ),
  async () => {
    const tests = [];
    for (const scenario of SCENARIOS) tests.push(unitTest(scenario, await record(scenario)));
    const file = join(temporaryFolder(), 'tests.yaml');
    const document = { rule_files: [RULES], evaluation_interval: '1m', tests };
    writeFileSync(file, JSON.stringify(document));
    const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], {
      encoding: 'utf8',
    });
    expect(status, `${stdout}${stderr}`).toBe(0);
  },
);

/** Scrapes in the form of promtool's unit tests. */
function unitTest({ fires, when, minutes }: Scenario, scrapes: readonly (readonly Sample[])[]) {
  const series = new Map<string, string[]>();
  for (const [minute, samples] of scrapes.entries()) {
    for (const { name, labels, value } of samples) {
      const pairs = Object.entries(labels).map(([label, given]) => `${label}="${given}"`);
      const key = `${name}{${pairs.join(',')}}`;
      const values = series.get(key) ?? Array(minute).fill('_');
      series.set(key, [...values, ...Array(minute - values.length).fill('_'), value]);
    }
  }
  return {
    name: when,
    interval: '1m',
    start_timestamp: START / 1000,
    input_series: [...series].map(([key, values]) => ({ series: key, values: values.join(' ') })),
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minutes}m`,
        exp_samples: fires.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
}

/** Alerts of what only a look at the stack, or a request, can tell. */
const AFTER_THE_FIRST = [
  'CallsheetDrift',
  'CallsheetContested',
  'CallsheetNotApplied',
  'CallsheetRateLimited',
  'CallsheetRolloutHeld',
  'CallsheetRolloutOverdue',
];

describe('the expression of an alert finds its series', () => {
  test.each(rules)('$alert', async ({ alert, expr, annotations }) => {
    const both = openBoth(() => new Date());
    const before = await both.scrape();
    await goesWell(0, both);
    const after = await both.scrape();
    const found = labelSets(expr, after);
    expect(found).not.toEqual([]);
    if (!AFTER_THE_FIRST.includes(alert)) expect(labelSets(expr, before)).not.toEqual([]);
    const named = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    for (const label of named) expect(found.some((labels) => labels.has(label ?? ''))).toBe(true);
  });
});

test('a rollout that ended has no series that an alert waits for, and one that is gone has none', async () => {
  const both = openBoth(() => new Date());
  const rolloutSeries = async () => {
    const samples = (await both.scrape()).filter(({ name }) =>
      name.startsWith('callsheet_rollout_'),
    );
    return samples.filter(({ value }) => value !== '0').map(({ name }) => name);
  };
  both.pass();
  expect(await rolloutSeries()).toEqual(
    expect.arrayContaining(['callsheet_rollout_overdue_timestamp_seconds']),
  );
  both.pass({}, { status: 'done' });
  expect(await rolloutSeries()).toEqual([
    'callsheet_rollout_status',
    'callsheet_rollout_step',
    'callsheet_rollout_agents',
    'callsheet_rollout_step_timestamp_seconds',
  ]);
  // Its state was thrown away, or another stack was looked at meanwhile.
  both.watch.passEnded({ ...NOTHING_SEEN, at: new Date() });
  expect(await rolloutSeries()).toEqual([]);
});

type Labels = ReadonlyMap<string, string>;
type Node = ReturnType<typeof parser.parse>['topNode'];

/** The label sets that an expression has samples for, whatever their values: comparisons let all through. */
function labelSets(expr: string, samples: readonly Sample[]): readonly Labels[] {
  const text = ({ from, to }: Node) => expr.slice(from, to);
  const childrenOf = (node: Node): readonly Node[] => {
    const all: Node[] = [];
    for (let child = node.firstChild; child !== null; child = child.nextSibling) all.push(child);
    return all;
  };
  const named = (node: Node, name: string) => childrenOf(node).find((child) => child.name === name);
  const keyOf = (labels: Labels) => JSON.stringify([...labels].sort());

  function selected(node: Node): readonly Labels[] {
    const metric = text(named(node, 'Identifier') ?? node);
    const matchers = named(node, 'LabelMatchers');
    const wanted = (matchers === undefined ? [] : childrenOf(matchers)).map((matcher) => {
      const [, label = '', how = '', value = ''] = /^(\w+)(=~|=)"(.*)"$/.exec(text(matcher)) ?? [];
      return { label, fits: how === '=' ? (is: string) => is === value : fitting(value) };
    });
    return samples
      .filter(({ name, labels }) =>
        name === metric ? wanted.every(({ label, fits }) => fits(labels[label] ?? '')) : false,
      )
      .map(({ labels }) => new Map(Object.entries(labels)));
  }

  /** Undefined: a number. */
  function setsOf(node: Node): readonly Labels[] | undefined {
    const children = childrenOf(node);
    switch (node.name) {
      case 'PromQL':
      case 'ParenExpr':
      case 'MatrixSelector':
        return setsOf(children[0] as Node);
      case 'VectorSelector':
        return selected(node);
      case 'NumberDurationLiteral':
        return undefined;
      case 'AggregateExpr': {
        const body = named(node, 'FunctionCallBody') as Node;
        const grouping = named(named(node, 'AggregateModifier') ?? node, 'GroupingLabels');
        const kept = grouping === undefined ? [] : childrenOf(grouping).map(text);
        const inside = setsOf(childrenOf(body)[0] as Node) ?? [];
        for (const label of kept) expect(inside.some((labels) => labels.has(label))).toBe(true);
        const sets = inside.map(
          (labels) => new Map([...labels].filter(([label]) => kept.includes(label))),
        );
        return [...new Map(sets.map((labels) => [keyOf(labels), labels])).values()];
      }
      case 'FunctionCall': {
        const name = text(children[0] as Node);
        if (name === 'time') return undefined;
        if (name === 'absent') return [new Map()];
        const last = childrenOf(named(node, 'FunctionCallBody') as Node).at(-1) as Node;
        const sets = setsOf(last);
        if (name !== 'histogram_quantile') return sets;
        expect(sets?.every((labels) => labels.has('le'))).toBe(true);
        return sets?.map((labels) => new Map([...labels].filter(([label]) => label !== 'le')));
      }
      case 'BinaryExpr': {
        const [left, right] = [setsOf(children[0] as Node), setsOf(children.at(-1) as Node)];
        if (left === undefined || right === undefined) return left ?? right;
        if (children.some((child) => child.name === 'Or')) return [...left, ...right];
        const there = new Set(right.map(keyOf));
        return left.filter((labels) => there.has(keyOf(labels)));
      }
      default:
        throw new Error(`an expression of ${node.name} is not known here: ${text(node)}`);
    }
  }

  return setsOf(parser.parse(expr).topNode) ?? [];
}

function fitting(pattern: string): (value: string) => boolean {
  const whole = new RegExp(`^(?:${pattern})$`);
  return (value) => whole.test(value);
}
