import { type Address, matchesAddress, rowKey } from '../../core/address.ts';
import { MASK } from '../../core/credentials.ts';
import { formatCount, formatFirst } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Path } from '../../core/path.ts';
import { checkName, type ProblemMessage, type Report } from '../../stack/diagnostics.ts';
import { lookUpCell } from '../../stack/expressions.ts';
import { STACK_FILE } from '../../stack/folder.ts';
import { readDuration, readStep, type StepSize } from '../../stack/formats.ts';
import {
  fail as failAt,
  followPath,
  isResolvedList,
  type LocatedValue,
  type Resolved,
  textsAmong,
  toObject,
} from '../../stack/resolved.ts';
import type { ResolvedResource } from '../../stack/resource.ts';
import type { ReadSection } from '../../stack/settings.ts';
import { toPosition } from '../../stack/source.ts';
import {
  type GuardRails,
  type Judging,
  MEASURES,
  type Measure,
  type OnWorse,
  type Order,
  type RolloutSettings,
  stepCounts,
} from './record.ts';
import written from './settings.schema.json' with { type: 'json' };

/**
 * `rollouts:` of callsheet.yaml. It is read with the other settings; which agents a rollout selects is known once all
 * resources are. What a schema can say of it stands in `settings.schema.json`, every default among it.
 */

/** A rollout before it is known which agents it selects. */
type WrittenRollout = {
  readonly settings: Omit<RolloutSettings, 'agents'>;
  /** All of it, as it was written and became. */
  readonly located: LocatedValue;
};

const defaults = written.schema.additionalProperties.properties;
const { first, judge, guard_rails, on_worse, overdue_after } = defaults;
const { measures, min_calls, min_days, baseline_weeks } = judge.properties;

const ORDERS = ['spread', 'volume'] as const satisfies readonly Order[];
const ON_WORSE = ['rollback', 'hold', 'ask'] as const satisfies readonly OnWorse[];

const GROWS = 'Each step must be larger than the one before it; a share is rounded up';

/**
 * Reads `rollouts:` of callsheet.yaml, each with the agents that it selects. One that selects none is left out, after
 * saying why. Where the schema of the settings refuses something, that was reported, and its default is taken.
 */
export const readRollouts: ReadSection = (root, resources, report): readonly RolloutSettings[] => {
  const all = followPath(root, ['rollouts']);
  return Object.keys(toObject(all?.value)).flatMap((name) => {
    const located = all && followPath(all, [name]);
    if (located?.keyPlace === undefined) return [];
    const position = toPosition(located.keyPlace);
    const rollout = { settings: { ...readRollout(name, located.value), position }, located };
    checkName({ key: name, keyPlace: located.keyPlace }, NAMING, report);
    const areSteps = checkSteps(rollout, report);
    if (resources === null) return [];
    const agents = resources.filter(({ kind }) => kind.name === 'agent');
    const selected = select(located, agents, report).map(({ address }) => address);
    if (selected.length === 0) return [];
    if (areSteps) checkCounts(rollout, selected.length, report);
    return [{ ...rollout.settings, agents: selected }];
  });
};

function readRollout(
  name: string,
  value: Resolved | undefined,
): Omit<RolloutSettings, 'agents' | 'position'> {
  const { steps, judge: judged, guard_rails: rails, ...given } = toObject(value);
  return {
    name,
    steps: textsAmong(steps ?? defaults.steps.default).flatMap((text) => {
      const step = readStep(text);
      return 'value' in step ? [step.value] : [];
    }),
    first: toOne(ORDERS, given.first ?? first.default),
    judge: readJudging(judged),
    guardRails: readGuardRails(rails),
    onWorse: toOne(ON_WORSE, given.on_worse ?? on_worse.default),
    overdueAfter: duration(given.overdue_after ?? overdue_after.default) ?? 0,
  };
}

function readJudging(value: Resolved | undefined): Judging {
  const given = toObject(value);
  const wanted = toObject(given.measures ?? measures.default);
  return {
    measures: MEASURES.flatMap((name) => {
      const measure = wanted[name];
      return measure === undefined ? [] : [readMeasure(name, measure)];
    }),
    minCalls: numberOr(given.min_calls, min_calls.default),
    minDays: numberOr(given.min_days, min_days.default),
    baselineWeeks: numberOr(given.baseline_weeks, baseline_weeks.default),
  };
}

function readMeasure(name: Measure['name'], value: Resolved): Measure {
  const { margin, better } = toObject(value);
  const { properties } = measures.properties[name];
  return {
    name,
    margin: numberOr(margin, properties.margin.default),
    better: toOne(['higher', 'lower'], better ?? properties.better.default),
  };
}

function readGuardRails(value: Resolved | undefined): GuardRails {
  const { errors, error_words: words, silence } = toObject(value);
  const { properties } = guard_rails;
  return {
    ...(typeof errors === 'number' ? { errors } : {}),
    errorWords: textsAmong(words ?? properties.error_words.default),
    silence: numberOr(silence, properties.silence.default),
  };
}

function numberOr(value: Resolved | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

/** One of several words. What is none of them was reported. */
function toOne<T extends string>(known: readonly [T, ...T[]], value: Resolved): T {
  return known.find((one) => one === value) ?? known[0];
}

function duration(value: Resolved | undefined): number | undefined {
  const read = typeof value === 'string' ? readDuration(value) : undefined;
  return read && 'value' in read ? read.value : undefined;
}

/** Reports a problem of a rollout, at what is written there or at its key. The message begins with a verb. */
function fail(
  at: LocatedValue,
  problem: ProblemMessage,
  report: Report,
  place: 'value' | 'key' = 'value',
): void {
  const range = (place === 'value' ? at.written?.range : undefined) ?? at.keyPlace;
  failAt({ report, subject: STACK_FILE, address: undefined }, at, range, problem);
}

/** The elements of a list, or what stands in its place. */
function listElements(at: LocatedValue | undefined): readonly LocatedValue[] {
  if (at === undefined) return [];
  if (!isResolvedList(at.value)) return [at];
  return at.value.flatMap((_, index) => followPath(at, [`[${index}]`]) ?? []);
}

/** Its name is typed, and becomes part of documents. */
const NAMING = { rule: 'rollout/name', holder: `${STACK_FILE}: rollouts`, what: 'a rollout' };

/** A step as it was written; undefined where one of them cannot be read. */
function readSteps({ settings, located }: WrittenRollout) {
  const places = listElements(followPath(located, ['steps']));
  if (places.length !== settings.steps.length) return undefined;
  return settings.steps.map((size, index) => ({ size, at: places[index] as LocatedValue }));
}

/** Says what is wrong with steps whatever the number of agents; false where something is. */
function checkSteps(rollout: WrittenRollout, report: Report): boolean {
  const steps = readSteps(rollout);
  const last = steps?.at(-1);
  if (steps === undefined || last === undefined) return false;
  for (const [index, { size, at }] of steps.entries()) {
    const before = steps
      .slice(0, index)
      .findLast(({ size: other }) => 'agents' in other === 'agents' in size);
    if (before === undefined || measureStep(before.size) < measureStep(size)) continue;
    const message = `is ${formatStep(size)}, and an earlier step is ${formatStep(before.size)}`;
    fail(at, { rule: 'rollout/steps', message, hint: GROWS }, report);
    return false;
  }
  if ('percent' in last.size && last.size.percent === 100) return true;
  const message = `is ${formatStep(last.size)}, and the last step must be 100%`;
  fail(last.at, { rule: 'rollout/steps', message, hint: 'Add 100% as the last step' }, report);
  return false;
}

function measureStep(step: StepSize): number {
  return 'agents' in step ? step.agents : step.percent;
}

function formatStep(step: StepSize): string {
  return 'percent' in step ? `${step.percent}%` : formatCount(step.agents, 'agent');
}

type Agent = ResolvedResource;

/** A member of `select`, or a column of its labels. */
type Condition = {
  /** `targets`, `labels.region`. */
  readonly name: string;
  /** What is asked for, by its text. An agent must have one of it. */
  readonly wanted: ReadonlyMap<string, LocatedValue>;
  /** What an agent has of it; it may have more. */
  readonly textsOf: (agent: Agent) => readonly string[];
  /** What is said of a text that no agent has, behind the text. */
  readonly which: string;
  /** Texts that could be given instead, as far as they may be shown. */
  readonly known: () => readonly string[];
  /** Whether the values are those of a column that fills in secrets. */
  readonly isHidden?: boolean;
};

/** The agents that a rollout selects, in the order of all; none after saying why. */
function select(rollout: LocatedValue, agents: readonly Agent[], report: Report): readonly Agent[] {
  if (agents.length === 0) {
    const message = 'selects no agent, because the stack has none';
    const hint = 'Add agents to the stack, or remove the rollout';
    fail(rollout, { rule: 'rollout/selection', message, hint }, report, 'key');
  }
  const at = followPath(rollout, ['select']);
  if (at === undefined || agents.length === 0) return agents;
  const conditions = readConditions(at, agents, report);
  if (conditions === undefined) return [];
  const tallies = conditions.map((condition) => ({
    condition,
    matched: 0,
    unmet: new Map(condition.wanted),
  }));
  const selected = agents.filter((agent) => {
    let isSelected = true;
    for (const tally of tallies) {
      const { wanted, textsOf } = tally.condition;
      const found = textsOf(agent).filter((text) => wanted.has(text));
      for (const text of found) tally.unmet.delete(text);
      if (found.length > 0) tally.matched += 1;
      else isSelected = false;
    }
    return isSelected;
  });
  for (const { condition, unmet } of tallies) {
    for (const [text, place] of unmet) {
      if (condition.isHidden === true && place.written) report.mask(place.written.range);
      fail(place, unmetMessage(text, place, condition), report);
    }
  }
  if (tallies.some(({ unmet }) => unmet.size > 0)) return [];
  if (selected.length > 0) return selected;
  const each = tallies.map(({ condition, matched }) => `${condition.name} matches ${matched}`);
  const message = `selects no agent: ${each.join(', ')}, and no agent matches all of them`;
  const hint = 'An agent is selected if every member of select matches it';
  fail(at, { rule: 'rollout/selection', message, hint }, report, 'key');
  return [];
}

/** Texts that a hint lists where none is plainly meant. */
const MOST_LISTED = 8;

function unmetMessage(
  text: string,
  { written: node }: LocatedValue,
  { which, known, isHidden }: Condition,
): ProblemMessage {
  const shown = isHidden === true ? MASK : node?.type === 'scalar' ? node.text : text;
  const some = [...new Set(known())];
  const others = some.length === 0 ? undefined : `There are ${formatFirst(some, MOST_LISTED)}`;
  return {
    rule: 'rollout/selection',
    message: `names ${shown}, ${which}`,
    hint: didYouMean(text, some, others),
  };
}

/** What `select` asks for; undefined after reporting columns that there are not. */
function readConditions(
  at: LocatedValue,
  agents: readonly Agent[],
  report: Report,
): readonly Condition[] | undefined {
  const labels = followPath(at, ['labels']);
  const columns = Object.keys(toObject(labels?.value));
  // Rows of one table share its columns.
  const tables = new Set(agents.map(({ row }) => row?.columns));
  const known = new Set([...tables].flatMap((table) => [...(table ?? [])]));
  const unknown = columns.filter((column) => !known.has(getColumn(column)));
  for (const column of unknown) {
    const label = labels && followPath(labels, [column]);
    if (label !== undefined) fail(label, columnMessage(column, known), report, 'key');
  }
  if (unknown.length > 0) return undefined;
  const wanted = (path: Path) =>
    new Map(listElements(followPath(at, path)).map((one) => [String(one.value), one] as const));
  const targets = wanted(['targets']);
  const addresses = () => agents.map(({ address }) => address);
  const all: readonly Condition[] = [
    {
      name: 'targets',
      wanted: targets,
      textsOf: ({ address }) => [...targets.keys()].filter((one) => matchesAddress(one, address)),
      which: 'which matches no agent of the stack',
      known: addresses,
    },
    {
      name: 'keys',
      wanted: wanted(['keys']),
      textsOf: ({ address }) => keysIn(address),
      which: 'which is the key of no agent',
      known: () => addresses().flatMap(keysIn),
    },
    {
      name: 'organizations',
      wanted: wanted(['organizations']),
      textsOf: ({ document: { organization_id: id } }) => (typeof id === 'string' ? [id] : []),
      which: 'which has no agent in this stack',
      known: () => [],
    },
    ...columns.map((column): Condition => {
      const isHidden = agents.some(
        ({ row }) => row?.redaction.isHidden(getColumn(column)) === true,
      );
      const values = (agent: Agent) => listLabels(agent, column).slice(0, 1);
      return {
        name: `labels.${column}`,
        wanted: wanted(['labels', column]),
        textsOf: (agent) => listLabels(agent, column),
        which: 'which no row of an agent has there',
        known: () => (isHidden ? [] : agents.flatMap(values)),
        isHidden,
      };
    }),
  ];
  return all.filter((condition) => condition.wanted.size > 0);
}

function keysIn(address: Address): readonly string[] {
  const key = rowKey(address);
  return key === undefined ? [] : [key];
}

/** The column of a label: `address` of `address.city`. */
function getColumn(label: string): string {
  return label.split('.')[0] ?? '';
}

/** What a cell reads as: its text, and the number that it is, which people spell in other ways. */
function listLabels({ row }: Agent, label: string): readonly string[] {
  if (row?.columns.has(getColumn(label)) !== true) return [];
  const found = lookUpCell(row, label.split('.'));
  if (found === 'nothing' || 'unknown' in found || found.cell.type !== 'scalar') return [];
  const { text } = found.cell;
  return /^-?\d+(?:\.\d+)?$/.test(text) ? [text, String(Number(text))] : [text];
}

function columnMessage(column: string, known: ReadonlySet<string>): ProblemMessage {
  const others =
    known.size === 0 ? 'No agent of the stack has for_each' : `There are ${[...known].join(', ')}`;
  return {
    rule: 'rollout/column',
    message: 'is no column of the rows of any agent',
    hint: didYouMean(getColumn(column), known, others),
  };
}

/** Whether steps grow can also depend on how many agents there are: 3 agents are more than 10 % of 20. */
function checkCounts(rollout: WrittenRollout, agents: number, report: Report): void {
  const steps = readSteps(rollout) ?? [];
  const counts = stepCounts(rollout.settings.steps, agents);
  for (const [index, { size, at }] of steps.entries()) {
    const [before = 0, count = 0] = [counts[index - 1], counts[index]];
    const isTooLarge = 'agents' in size && size.agents > agents;
    if (!isTooLarge && count > before) continue;
    const message = isTooLarge
      ? `is ${formatStep(size)}, and the rollout selects ${agents}`
      : `is ${count} of ${formatCount(agents, 'agent')}, and the step before it is ${before}`;
    fail(at, { rule: 'rollout/steps', message, hint: GROWS }, report);
    return;
  }
}
