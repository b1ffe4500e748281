import type { Log } from '../../../src/core/documents.generated.ts';

/** The document of `callsheet log` about one resource, for the pictures of its texts. */

/** A change of one field of `agent.desk`, by ann at nine on the given day of November 2026. */
export function changeOn(
  day: number,
  before: string | null,
  after: string | null,
  { field = {}, ...given }: Partial<Log.Entry> & { readonly field?: Partial<Log.Field> } = {},
): Log.Entry {
  const path = 'system_prompt';
  const kept = { before: true, after: true };
  return {
    at: `2026-11-${String(day).padStart(2, '0')}T09:00:00Z`,
    by: 'ann',
    address: 'agent.desk',
    id: 'a-1',
    action: 'update',
    status: 'done',
    fields: [{ path, before, after, secret: false, kept, ...field }],
    run: `r-${day}`,
    purpose: 'apply',
    undoes: null,
    commit: null,
    pipeline: null,
    pull_request: null,
    approved_by: [],
    undone_by: null,
    edits: [],
    message: null,
    ...given,
  };
}

const LINES = {
  title: '# Front desk',
  role: 'You answer the phone of Harbor Dental and help people who want to be seen.',
  hours: 'We are open from 8 to 5 on weekdays.',
  prices: 'Never quote a price. Offer a call back instead.',
  emergency:
    'If somebody is in pain, offer the next free visit of the day, whoever the dentist is.',
  close: 'Read the day and the time back before you hang up.',
};
const MILD = 'You may quote the price of a check-up. Offer a call back for anything else.';
const EARLY = { hours: 'We are open from 7 to 7 on weekdays.' };

/** Versions of a prompt whose rule on prices goes back and forth, and is taken out for a while. */
const VERSIONS: readonly Partial<typeof LINES>[] = [
  {},
  { prices: MILD },
  { ...EARLY, prices: MILD },
  EARLY,
  { ...EARLY, prices: MILD },
  { ...EARLY, prices: '' },
  { ...EARLY, prices: MILD },
  { ...EARLY, prices: `${MILD} Never quote a price of an implant.` },
  { ...EARLY, prices: `${MILD} Never quote the price of an implant.` },
];

/** A prompt that was made and edited eight times; from the second edit on, its rule on prices stands elsewhere. */
export function foughtChanges(): readonly Log.Entry[] {
  const texts = VERSIONS.map((given, at) => {
    const { title, role, hours, prices, emergency, close } = { ...LINES, ...given };
    const rules = at < 2 ? [hours, emergency, prices] : [prices, hours, emergency];
    return [title, role, ...rules, close].filter((line) => line !== '').join('\n\n');
  });
  const made = changeOn(1, null, texts[0] ?? '', { action: 'create' });
  const edits = texts.slice(1).map((after, at) =>
    changeOn(at * 3 + 3, texts[at] ?? '', after, {
      ...(at % 2 === 0 ? {} : { by: 'marc', purpose: 'rollback' }),
    }),
  );
  return [made, ...edits];
}

/** The documents that `ui` serves of a fleet of one agent. `changes`: those of the agent, the oldest first. */
export function heatDocuments(changes: readonly Log.Entry[]): { readonly [path: string]: unknown } {
  const log: Log.Document = {
    format: 'callsheet-log',
    version: 1,
    address: 'agent.desk',
    field: null,
    since: null,
    history: { asked: ['agent.desk'], missing: null },
    data: changes.toReversed(),
  };
  const desk = { address: 'agent.desk', kind: 'agent', id: 'a-1', name: 'Front desk', scope: {} };
  return {
    'fleet.json': { serial: 7, account_id: null, resources: [{ ...desk, protect: false }] },
    'facts.json': {},
    'log/agent.desk.json': log,
  };
}
