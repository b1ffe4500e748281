import { matchesAddress, rowKey } from '../../core/address.ts';
import { MASK } from '../../core/credentials.ts';
import { formatCount, formatFirst } from '../../core/errors.ts';
import { didYouMean } from '../../core/nearest.ts';
import type { Path } from '../../core/path.ts';
import { findText } from '../../core/value.ts';
import { checkName, type ProblemMessage, type Report } from '../../stack/diagnostics.ts';
import { lookUpCell } from '../../stack/expressions.ts';
import { STACK_FILE } from '../../stack/folder.ts';
import type { StepSize } from '../../stack/formats.ts';
import {
  fail,
  followPath,
  type LocatedValue,
  listElements,
  readValue,
  toObject,
} from '../../stack/resolved.ts';
import type { ResolvedResource } from '../../stack/resource.ts';
import type { ReadSection } from '../../stack/settings.ts';
import { toPosition } from '../../stack/source.ts';
import {
  type Judging,
  MEASURES,
  type Measure,
  type RolloutSettings,
  stepCounts,
} from './record.ts';

/** `rollouts:` of callsheet.yaml. Its form and its defaults stand in `settings.schema.json`. */

/** A rollout before it is known which agents it selects. */
type WrittenRollout = {
  readonly settings: Omit<RolloutSettings, 'agents'>;
  /** All of it, as it was written and became. */
  readonly located: LocatedValue;
};

/** The settings as their schema has them: its measures are a map. */
type ReadSettings = Omit<RolloutSettings, 'name' | 'agents' | 'judge' | 'position'> & {
  readonly judge: Omit<Judging, 'measures'> & {
    readonly measures: { readonly [name in Measure['name']]?: Omit<Measure, 'name'> };
  };
  readonly select: unknown;
};

/** Rollouts with the agents that they select. One that selects none is left out, after saying why. */
export const readRollouts: ReadSection = (root, resources, report): readonly RolloutSettings[] => {
  const all = followPath(root, ['rollouts']);
  return Object.keys(toObject(all?.value)).flatMap((name) => {
    const located = all && followPath(all, [name]);
    if (located?.keyPlace === undefined) return [];
    const { schema, value, keyPlace } = located;
    // A value that the schema refuses was reported, and no stack is made of it.
    const { judge, select: _, ...read } = readValue(schema, value) as ReadSettings;
    const measures = MEASURES.flatMap((measure) => {
      const given = judge.measures[measure];
      return given === undefined ? [] : [{ name: measure, ...given }];
    });
    const position = toPosition(keyPlace);
    const settings = { ...read, name, judge: { ...judge, measures }, position };
    checkName({ key: name, keyPlace }, NAMING, report);
    const areSteps = checkSteps({ settings, located }, report);
    if (resources === null) return [];
    const agents = resources.filter(({ kind }) => kind.name === 'agent');
    const selected = select(located, agents, report).map(({ address }) => address);
    if (selected.length === 0) return [];
    if (areSteps) checkSteps({ settings, located }, report, selected.length);
    return [{ ...settings, agents: selected }];
  });
};

/** Its name is typed, and becomes part of documents. */
const NAMING = { rule: 'rollout/name', holder: `${STACK_FILE}: rollouts`, what: 'a rollout' };

/** Reports a problem of a rollout, by default at the written value. The message begins with a verb. */
function refuse(
  at: LocatedValue,
  problem: ProblemMessage,
  report: Report,
  range = at.written?.range ?? at.keyPlace,
): void {
  fail({ report, subject: STACK_FILE, address: undefined }, at, range, problem);
}

/**
 * Reports the first step that does not grow; true where there is none. Until the number of agents is known, only steps of
 * one unit are compared.
 */
function checkSteps(
  { settings, located }: WrittenRollout,
  report: Report,
  agents?: number,
): boolean {
  const places = listElements(followPath(located, ['steps']));
  // A step that cannot be read was reported.
  if (places.length !== settings.steps.length) return false;
  const sizes =
    agents === undefined
      ? settings.steps.map(readSize)
      : stepCounts(settings.steps, agents).map((size) => ({
          size,
          said: `${size} of ${formatCount(agents, 'agent')}`,
          unit: '',
        }));
  const faults = sizes.map(({ size, said, unit }, index) => {
    const isNoLess = (one: { size: number; unit: string }) => one.unit === unit && one.size >= size;
    const before = sizes.slice(0, index).findLast(isNoLess);
    if (before !== undefined) return `is ${said}, and an earlier step is ${before.said}`;
    const isShort = index === sizes.length - 1 && unit !== '' && said !== '100%';
    return isShort ? `is ${said}, and the last step must be 100%` : undefined;
  });
  const index = faults.findIndex((message) => message !== undefined);
  const [at, message] = [places[index], faults[index]];
  const hint =
    'Each step must be larger than the one before it, the last 100%; a share is rounded up';
  if (at && message) refuse(at, { rule: 'rollout/steps', message, hint }, report);
  return message === undefined;
}

function readSize(step: StepSize) {
  return 'percent' in step
    ? { size: step.percent, said: `${step.percent}%`, unit: '%' }
    : { size: step.agents, said: formatCount(step.agents, 'agent'), unit: 'agents' };
}

type Agent = ResolvedResource;

/** The agents that a rollout selects, in the order of all; none after saying why. */
function select(rollout: LocatedValue, agents: readonly Agent[], report: Report): readonly Agent[] {
  const at = followPath(rollout, ['select']) ?? rollout;
  const labels = Object.keys(toObject(followPath(at, ['labels'])?.value));
  const found = [...MEMBERS, ...labels.map((label) => readLabel(label, agents))].flatMap((one) => {
    const place = followPath(at, one.path);
    if (place === undefined) return [];
    return [{ name: one.path.join('.'), matched: match(place, one, agents, report) }];
  });
  if (found.some(({ matched }) => matched === undefined)) return [];
  const selected = agents.filter((agent) => found.every(({ matched }) => matched?.has(agent)));
  const each = found.map(({ name, matched }) => `${name} matches ${matched?.size}`);
  const message =
    each.length === 0
      ? 'selects no agent, because the stack has none'
      : `selects no agent: ${each.join(', ')}, and no agent matches all of them`;
  const hint = 'An agent is selected if every member of select matches it';
  if (selected.length === 0)
    refuse(at, { rule: 'rollout/selection', message, hint }, report, at.keyPlace);
  return selected;
}

/** A member of `select`, or a column of its labels: an agent must have one of the texts that are given there. */
type Condition = {
  readonly path: Path;
  readonly getText: (agent: Agent) => string | undefined;
  /** Says of a text that no agent has it. */
  readonly which: string;
  readonly matches?: (wanted: string, text: string) => boolean;
  /** The texts are those of a column that fills in secrets. */
  readonly isHidden?: boolean;
  /** The column that a label is, of which some agent must have one. */
  readonly column?: string;
};

const MEMBERS: readonly Condition[] = [
  {
    path: ['targets'],
    getText: ({ address }) => address,
    which: 'matches no agent of the stack',
    matches: matchesAddress,
  },
  { path: ['keys'], getText: ({ address }) => rowKey(address), which: 'is the key of no agent' },
  {
    path: ['organizations'],
    getText: ({ document }) => findText(document.organization_id),
    which: 'has no agent in this stack',
  },
];

function readLabel(label: string, agents: readonly Agent[]): Condition {
  const path = label.split('.');
  const [column = ''] = path;
  return {
    path: ['labels', label],
    getText({ row }) {
      const found = lookUpCell(row, path);
      const isText = found !== 'nothing' && 'cell' in found && found.cell.type === 'scalar';
      return isText ? found.cell.text : undefined;
    },
    which: 'no row of an agent has there',
    // People write one number in several ways.
    matches: (wanted, text) =>
      wanted === text || (/^-?\d+(?:\.\d+)?$/.test(text) && wanted === String(Number(text))),
    isHidden: agents.some(({ row }) => row?.redaction.isHidden(column) === true),
    column,
  };
}

/** The agents that have one of the texts; undefined after reporting a text that none has. */
function match(
  place: LocatedValue,
  { getText, which, matches = Object.is, isHidden = false, column }: Condition,
  agents: readonly Agent[],
  report: Report,
): ReadonlySet<Agent> | undefined {
  // Rows of one table share its columns.
  const tables = new Set(agents.map(({ row }) => row?.columns));
  const columns = [...tables].flatMap((table) => [...(table ?? [])]);
  if (column !== undefined && !columns.includes(column)) {
    const message = 'is no column of the rows of any agent';
    const problem = { rule: 'rollout/column', message, hint: suggest(column, columns) };
    refuse(place, problem, report, place.keyPlace);
    return undefined;
  }
  const texts = agents.map((agent) => ({ agent, text: getText(agent) }));
  const wanted = listElements(place);
  const found = wanted.map((one) =>
    texts.filter(({ text }) => text !== undefined && matches(String(one.value), text)),
  );
  const unmet = wanted.filter((_, index) => found[index]?.length === 0);
  for (const at of unmet) {
    const shown = at.written?.type === 'scalar' ? at.written.text : String(at.value);
    const known = texts.flatMap(({ text }) => (isHidden ? [] : (text ?? [])));
    if (isHidden && at.written) report.mask(at.written.range);
    const message = `names ${isHidden ? MASK : shown}, which ${which}`;
    refuse(at, { rule: 'rollout/selection', message, hint: suggest(shown, known) }, report);
  }
  return unmet.length > 0 ? undefined : new Set(found.flat().map(({ agent }) => agent));
}

function suggest(word: string, known: readonly string[]): string | undefined {
  const some = [...new Set(known)];
  const others = some.length === 0 ? undefined : `There are ${formatFirst(some, 8)}`;
  return didYouMean(word, some, others);
}
