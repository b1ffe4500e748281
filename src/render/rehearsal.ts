import type { PlanDocument } from '../core/plan-document.ts';
import type { Rehearsal, RehearsalDifference, RehearsalStep } from '../core/rehearsal.ts';
import type { Json } from '../core/value.ts';
import type { Footer } from './footers.ts';
import { inlineValue } from './value-text.ts';
import { formatNumber } from './wording.ts';

const VERDICTS: {
  readonly [verdict in Rehearsal['verdict']]: Pick<Footer, 'weight'> & { readonly told: string };
} = {
  passed: { weight: 'info', told: 'everything held' },
  partial: { weight: 'warning', told: 'it can be carried out, but not be undone entirely' },
  failed: { weight: 'error', told: 'it did not hold' },
  refused: { weight: 'error', told: 'it would be refused' },
  empty: { weight: 'info', told: 'there is nothing to carry out' },
};

const STEPS: { readonly [step in RehearsalStep['step']]: string } = {
  copy: 'copy',
  apply: 'apply',
  again: 'plan again',
  failure: 'fail half way',
  resume: 'resume',
  rollback: 'roll back',
  return: 'compare',
};

const MARKS: { readonly [outcome in RehearsalStep['outcome']]: string } = {
  held: '✓',
  partial: '!',
  failed: '✗',
  refused: '✗',
};

/** What came of a rehearsal, and what that rests on. */
export function rehearsalFooters({ rehearsal, digest }: PlanDocument): readonly Footer[] {
  if (rehearsal === undefined) return [];
  if (rehearsal.digest !== digest) {
    const text = `it was rehearsed as ${rehearsal.digest}, which is another plan`;
    const title = 'Rehearsal: it says nothing of this plan.';
    return [{ weight: 'warning', title, items: [{ address: null, text }], advice: null }];
  }
  const { weight, told } = VERDICTS[rehearsal.verdict];
  return [
    {
      weight,
      title: `Rehearsal of ${instant(rehearsal.at)}${sourceOf(rehearsal)}: ${told}.`,
      items: rehearsal.steps.flatMap(stepItems),
      advice: null,
    },
    ...differenceFooter(rehearsal),
    {
      weight: 'info',
      title: 'What the rehearsal rests on:',
      items: [
        ...(rehearsal.faults.length === 0
          ? []
          : [{ address: null, text: `made to go wrong: ${rehearsal.faults.join('; ')}` }]),
        ...rehearsal.filled.map((text) => ({ address: null, text })),
        ...(rehearsal.assumptions.length === 0
          ? []
          : [{ address: null, text: `assumptions: ${rehearsal.assumptions.join(', ')}` }]),
      ],
      advice: LIMITS,
    },
  ];
}

/** A rehearsal must not be taken for more than it is. */
const LIMITS =
  'It proves the plan against the simulator, which is one reading of the platform’s specification, and not against the platform itself (callsheet assumptions).';

function sourceOf({ source }: Rehearsal): string {
  return source.type === 'snapshot' ? ` with the snapshot of ${instant(source.made_at)}` : '';
}

/** To the minute. No digest vouches for what stands in a file, and titles are shown as they are. */
function instant(text: string): string {
  const [, minute] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)[\d:.]*Z$/.exec(text) ?? [];
  return minute === undefined ? 'an unknown time' : `${minute}Z`;
}

function stepItems({ step, outcome, message, details }: RehearsalStep): Footer['items'] {
  return [
    { address: `${MARKS[outcome]} ${STEPS[step]}`, text: message },
    ...details.map((text) => ({ address: null, text: `  ${text}` })),
  ];
}

function differenceFooter({ differences, differing }: Rehearsal): readonly Footer[] {
  if (differing === 0) return [];
  const title = 'Not as before, once it is rolled back:';
  const hidden = differing - differences.length;
  const items = differences.map((one) => ({ address: nameOf(one), text: wordsOf(one) }));
  const more = { address: null, text: `and ${formatNumber(hidden)} more` };
  return [{ weight: 'warning', title, items: hidden > 0 ? [...items, more] : items, advice: null }];
}

function nameOf({ address, kind, name, id }: RehearsalDifference): string {
  return address ?? `${kind.replaceAll('_', ' ')} ${name} (${id})`;
}

function wordsOf({ path, before, after, secret }: RehearsalDifference): string {
  if (path === null) return before === null ? 'is left behind' : 'is gone';
  if (secret) return `${path}: another secret than before`;
  return `${path}: ${shortly(before)} before, ${shortly(after)} after`;
}

/** Enough of a value to recognise it. */
const LONGEST = 60;

function shortly(value: Json): string {
  if (value === null) return 'nothing';
  const text = inlineValue(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;
}
