import type { Change, Note, PlanDocument, SecretTravel, Verdict } from '../core/plan-document.ts';
import { rehearsalFooters } from './rehearsal.ts';
import { formatCount } from './wording.ts';

/** Something that is said below the changes. No text in it is sanitised yet. */
export type Footer = {
  readonly weight: 'error' | 'warning' | 'info';
  readonly title: string;
  readonly items: readonly { readonly address: string | null; readonly text: string }[];
  /** What to do, and what to type for it. */
  readonly advice: string | null;
  /** Whether all items are shown, however many there are. */
  readonly isWhole?: boolean;
};

/** What stands in the way of the plan, and what is to be known about it. */
export function footersOf(plan: PlanDocument): readonly Footer[] {
  return [
    ...secretsFooter(plan),
    ...refusalFooter(plan),
    ...verdictFooter(plan, 'refused'),
    ...verdictFooter(plan, 'held'),
    ...verdictFooter(plan, 'unsupported'),
    ...settledFooter(plan),
    ...noteFooter(plan.notes, 'warning'),
    ...noteFooter(plan.notes, 'info'),
    ...rehearsalFooters(plan),
  ];
}

/** Every secret that goes out, those first that go somewhere new: what follows one is how it is stolen. */
function secretsFooter({ changes, purpose }: PlanDocument): readonly Footer[] {
  if (purpose === 'drift' || purpose === 'comparison') return [];
  const sent = changes.flatMap(({ address, secrets = [] }) =>
    secrets.map((travel) => ({ address, travel })),
  );
  if (sent.length === 0) return [];
  const isNew = ({ travel: { to, before } }: (typeof sent)[number]) => to !== before;
  const ordered = [...sent.filter(isNew), ...sent.filter((one) => !isNew(one))];
  return [
    {
      weight: sent.some(isNew) ? 'warning' : 'info',
      title: 'Secrets, and where they go:',
      items: sayOnce(
        ordered.map(({ address, travel }) => ({ address, text: travelWords(travel) })),
      ),
      advice: null,
      isWhole: true,
    },
  ];
}

/** `secret env:CRM_KEY → crm.example.test (was old.example.test)` */
export function travelWords({ path, source, to, before }: SecretTravel): string {
  const what = source === null ? `stored secret ${path}` : `secret ${source}`;
  return `${what} → ${to}${before === null || before === to ? '' : ` (was ${before})`}`;
}

/** What does not happen where a plan is refused. */
const RUNNER: { readonly [purpose: string]: string } = {
  rollback: 'this rollback is not run',
  restore: 'nothing is restored',
};

function refusalFooter({ refusals = [], purpose }: PlanDocument): readonly Footer[] {
  if (refusals.length === 0) return [];
  const what = RUNNER[purpose] ?? 'apply does not run this plan';
  return [
    {
      weight: 'error',
      title: `Refused: ${what} now.`,
      items: refusals.map(({ message }) => ({ address: null, text: message })),
      advice: refusals.map(({ advice }) => advice).join(' '),
    },
  ];
}

function verdictFooter(
  { changes, options, purpose }: PlanDocument,
  verdict: Exclude<Verdict, 'ok'>,
): readonly Footer[] {
  const struck = changes.filter((change) => change.verdict === verdict);
  if (struck.length === 0) return [];
  const count = formatCount(struck.length, 'change');
  const isBlocking = verdict === 'refused' && !options.skip_refused;
  return [
    {
      weight: isBlocking ? 'error' : 'warning',
      items: sayOnce(struck.map(({ address, reason }) => ({ address, text: reason }))),
      ...(isBlocking
        ? {
            title: `Refused: ${RUNNER[purpose] ?? 'apply does not run this plan'} because of ${count}.`,
            advice: refusedAdvice(struck, purpose),
          }
        : (purpose === 'rollback' && verdict === 'unsupported' ? NOT_UNDONE : OMITTED[verdict])(
            count,
          )),
    },
  ];
}

const OMITTED = {
  refused: (count: string) => ({
    title: `Refused: apply leaves out ${count}, as --skip-refused asks.`,
    advice: null,
  }),
  held: (count: string) => ({
    title: `Held: apply leaves out ${count}.`,
    advice: 'Plan with --allow-delete to carry out what is held.',
  }),
  unsupported: (count: string) => ({
    title: `Unsupported: apply leaves out ${count} that the platform has no endpoint for.`,
    advice: 'Make the change in the dashboard, or take it out of the configuration.',
  }),
};

const NOT_UNDONE = (count: string) => ({
  title: `Not undone: the rollback leaves out ${count} that the platform does not take now.`,
  advice: 'Once that is put right, roll back again: it goes on with what is left.',
});

function refusedAdvice(struck: readonly Change[], purpose: PlanDocument['purpose']): string {
  const isConflict = ({ fields }: Change) => fields.some(({ cause }) => cause === 'conflict');
  const overwrite = struck.some(isConflict)
    ? ' --accept-conflicts overwrites what is live where both sides changed.'
    : '';
  const leave = purpose === 'apply' ? 'plan with --skip-refused' : 'pass --skip-refused';
  return `Put right what is refused, or ${leave} to leave it out.${overwrite}`;
}

/** What was found out about a run that died. */
function settledFooter({ settled }: PlanDocument): readonly Footer[] {
  if (settled === undefined) return [];
  const { run, findings } = settled;
  const isOpen = findings.some(({ severity }) => severity === 'warning');
  const items = findings.map(({ address, message }) => ({ address, text: message }));
  const nothing = { address: null, text: 'all that it did was written down before' };
  return [
    {
      weight: isOpen ? 'warning' : 'info',
      title: `Settled from run ${run}, which died:`,
      items: items.length === 0 ? [nothing] : items,
      advice: null,
    },
  ];
}

function noteFooter(notes: readonly Note[], severity: Note['severity']): readonly Footer[] {
  const own = notes.filter((note) => note.severity === severity);
  if (own.length === 0) return [];
  const title = severity === 'warning' ? 'Warnings:' : 'Notes:';
  const items = sayOnce(own.map(({ address, message }) => ({ address, text: message })));
  return [{ weight: severity, title, items, advice: null }];
}

/** Addresses that are named where the same is said of several. */
const MOST_NAMED = 3;

/** What is said alike of several resources, such as a threshold that the whole plan breaks, is said once. */
function sayOnce(items: Footer['items']): Footer['items'] {
  const same = Map.groupBy(items, ({ address, text }) =>
    address === null ? text : text.replaceAll(address, '<address>'),
  );
  return [...same].flatMap(([text, [first, ...others]]) => {
    if (first === undefined || others.length === 0) return first ?? [];
    if (first.address === null) return first;
    const names = [first, ...others].flatMap(({ address }) => address ?? []);
    const rest = names.length - MOST_NAMED;
    const named = rest > 1 ? names.slice(0, MOST_NAMED) : names;
    return { address: `${named.join(', ')}${rest > 1 ? ` and ${rest} others` : ''}`, text };
  });
}
