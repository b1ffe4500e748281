import type { Change, Note, PlanDocument, Verdict } from '../core/plan-document.ts';
import { formatCount } from './wording.ts';

/** Something that is said below the changes. No text in it is sanitised yet. */
export type Footer = {
  readonly weight: 'error' | 'warning' | 'info';
  readonly title: string;
  readonly items: readonly { readonly address: string | null; readonly text: string }[];
  /** Whether the items stand in full elsewhere, so that their beginning will do. */
  readonly isBrief: boolean;
  /** What to do, and what to type for it. */
  readonly advice: string | null;
};

/** What stands in the way of the plan, and what is to be known about it. */
export function footersOf(plan: PlanDocument): readonly Footer[] {
  return [
    ...verdictFooter(plan, 'refused'),
    ...verdictFooter(plan, 'held'),
    ...verdictFooter(plan, 'unsupported'),
    ...settledFooter(plan),
    ...noteFooter(plan.notes, 'warning'),
    ...noteFooter(plan.notes, 'info'),
  ];
}

function verdictFooter(
  { changes, options }: PlanDocument,
  verdict: Exclude<Verdict, 'ok'>,
): readonly Footer[] {
  const struck = changes.filter((change) => change.verdict === verdict);
  if (struck.length === 0) return [];
  const count = formatCount(struck.length, 'change');
  const isBlocking = verdict === 'refused' && !options.skip_refused;
  return [
    {
      weight: isBlocking ? 'error' : 'warning',
      items: struck.map(({ address, reason }) => ({ address, text: reason })),
      isBrief: true,
      ...(isBlocking
        ? {
            title: `Refused: apply does not run this plan because of ${count}.`,
            advice: refusedAdvice(struck),
          }
        : OMITTED[verdict](count)),
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

function refusedAdvice(struck: readonly Change[]): string {
  const isConflict = ({ fields }: Change) => fields.some(({ cause }) => cause === 'conflict');
  const overwrite = struck.some(isConflict)
    ? ' --accept-conflicts overwrites what is live where both sides changed.'
    : '';
  return `Put right what is refused, or plan with --skip-refused to leave it out.${overwrite}`;
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
      isBrief: false,
      advice: null,
    },
  ];
}

/** Notes that say the same of several resources are said once. */
function noteFooter(notes: readonly Note[], severity: Note['severity']): readonly Footer[] {
  const own = notes.filter((note) => note.severity === severity);
  if (own.length === 0) return [];
  const same = Map.groupBy(own, ({ address, message }) =>
    address === null ? message : message.replaceAll(address, '<address>'),
  );
  const items = [...same].map(([text, [first, ...others]]) =>
    first === undefined || others.length === 0
      ? { address: first?.address ?? null, text: first?.message ?? text }
      : { address: `${first.address} and ${formatCount(others.length, 'other')}`, text },
  );
  const title = severity === 'warning' ? 'Warnings:' : 'Notes:';
  return [{ weight: severity, title, items, isBrief: false, advice: null }];
}
