import { isDeepStrictEqual } from 'node:util';
import schema from '../../../schemas/state.schema.json' with { type: 'json' };
import type { JournalEntry } from '../../../src/state/journal.ts';
import { JOURNAL_HEADER } from '../../../src/state/journal-text.ts';
import type { ResourceState, State } from '../../../src/state/model.ts';
import { began } from '../sample.ts';
import { STATE as SAMPLE } from './sample.ts';
import { changesOf, forgedLine, forgedState } from './table.ts';

/**
 * Forgeries of the state of one stack, and of its journals, that name live resources: those of the stack and those of
 * somebody else. Whoever makes them can write every file and has no key.
 */

/** The files of `.callsheet`, by their path there. */
export type Files = ReadonlyMap<string, string>;

export type Forgery = {
  readonly name: string;
  /** The document that it changes: the state, which every command reads, or a journal. */
  readonly of: 'state' | 'journal';
  /** Whether a row of the threats itself, not one that is generated from the schema. */
  readonly isNamed: boolean;
  readonly make: (files: Files) => Files;
};

type Forged = {
  readonly files: Files;
  /** The files after the first run of the stack. */
  readonly older: Files;
  /** A record of a stranger's agent as Callsheet would write it. */
  readonly stranger: ResourceState;
  /** The pin of a resource as it is live, edits by hand included. */
  readonly livePin: ResourceState['pin'];
};

const [STATE, ANN, BEN, CAT, OLD, GENTLE] = [
  'state.json',
  'agent.ann',
  'agent.ben',
  'agent.cat',
  'agent.old',
  'retry_policy.gentle',
] as const;

const ADDRESSES: readonly string[] = [ANN, BEN, CAT, OLD, GENTLE];

/** A text that no resource ever had. */
export const INVENTED = 'A text that nobody wrote';

type Resources = State['resources'];
type Member = keyof ResourceState;

const isMember = (name: string): name is Member => name in schema.$defs.resource.properties;
const MEMBERS = Object.keys(schema.$defs.resource.properties).filter(isMember);

/** Members of the state as a whole; the others belong to the format, which `tamper.test.ts` holds. */
const HEADER = Object.keys(schema.properties).filter(
  (name) => !['checksum', 'seal', 'format', 'version', 'resources', 'moved_to'].includes(name),
);

/** Those that are wanted. A forgery that changes nothing is left out. */
export function forgeriesOf(
  given: Forged,
  isWanted: (forgery: Forgery) => boolean,
): readonly Forgery[] {
  const all = [...named(given), ...ofResources(given), ...ofHeader(given)].filter(isWanted);
  return all.filter(({ make }) => !isDeepStrictEqual(make(given.files), given.files));
}

function ofState(name: string, change: (state: State) => unknown, isNamed = false): Forgery {
  const make = (files: Files): Files => {
    const text = files.get(STATE) ?? '';
    return new Map([...files, [STATE, forgedState(text, (one) => change(one as State), 'kept')]]);
  };
  return { name, of: 'state', isNamed, make };
}

function ofRecords(
  name: string,
  change: (resources: Resources) => Resources,
  isNamed = false,
): Forgery {
  return ofState(
    name,
    (state) => ({ ...state, resources: { ...state.resources, ...change(state.resources) } }),
    isNamed,
  );
}

function at(resources: Resources, address: string): ResourceState {
  const found = resources[address];
  if (found === undefined) throw new Error(`the state has no ${address}`);
  return found;
}

/** A record with some members of another one; what that has not is taken away. */
function taking(
  record: ResourceState,
  members: readonly Member[],
  from: Partial<ResourceState>,
): ResourceState {
  const kept = Object.entries(record).filter(([name]) => !members.some((one) => one === name));
  const taken = Object.entries(from).filter(([name]) => members.some((one) => one === name));
  return Object.fromEntries([...kept, ...taken]) as ResourceState;
}

function* ofResources({ stranger, livePin }: Forged): Generator<Forgery> {
  const invented: Partial<ResourceState> = {
    ...SAMPLE.resources['agent.desk'],
    pin: livePin,
    protect: true,
  };
  for (const address of ADDRESSES)
    for (const member of MEMBERS) {
      const changed = (how: string, from: Partial<ResourceState>, more: readonly Member[] = []) =>
        ofRecords(`${address} ${[...more, member].join(' and ')} ${how}`, (all) => ({
          [address]: taking(at(all, address), [...more, member], from),
        }));
      yield changed('removed', {});
      yield changed('invented', invented);
      yield changed("of a stranger's", stranger);
      if (member !== 'id') yield changed("of a stranger's", stranger, ['id']);
      if (member !== 'id' && member !== 'name')
        yield changed("of a stranger's", stranger, ['id', 'name']);
      for (const other of ADDRESSES.filter((one) => one > address))
        yield ofRecords(`${address} ${member} exchanged with ${other}`, (all) => ({
          [address]: taking(at(all, address), [member], at(all, other)),
          [other]: taking(at(all, other), [member], at(all, address)),
        }));
    }
  for (const address of ADDRESSES) {
    yield ofState(`${address} removed`, (state) => {
      const { [address]: _, ...resources } = state.resources;
      return { ...state, resources };
    });
    yield ofRecords(`${address} all of a stranger's`, () => ({ [address]: stranger }));
  }
}

function* ofHeader(_: Forged): Generator<Forgery> {
  for (const member of HEADER) {
    yield ofState(`${member} removed`, ({ ...state }) => {
      Reflect.deleteProperty(state, member);
      return state;
    });
    const value = Object.entries(SAMPLE).find(([name]) => name === member)?.[1];
    yield ofState(`${member} invented`, (state) => ({ ...state, [member]: rebound(value, state) }));
    yield ofState(`${member} exchanged`, (state) => {
      const change = changesOf(state).find(({ name }) => name === `${member} exchanged`);
      return change === undefined ? state : change.make(state);
    });
  }
}

/** A sample that speaks of resources of the stack. */
function rebound(value: unknown, { resources }: State): unknown {
  const text = JSON.stringify(value ?? null)
    .replaceAll('agent.desk', ANN)
    .replaceAll('"a1"', JSON.stringify(at(resources, ANN).id));
  return JSON.parse(text);
}

function* named({ older, stranger, livePin, files }: Forged): Generator<Forgery> {
  const record = (name: string, change: (resources: Resources) => Resources) =>
    ofRecords(name, change, true);
  yield record("a stranger's id in place of one's own", (all) => ({
    [ANN]: { ...at(all, ANN), id: stranger.id },
  }));
  yield record('two ids exchanged', (all) => ({
    [ANN]: { ...at(all, ANN), id: at(all, BEN).id },
    [BEN]: { ...at(all, BEN), id: at(all, ANN).id },
  }));
  yield record('two ids and their times exchanged', (all) => ({
    [ANN]: taking(at(all, ANN), ['id', 'created_at'], at(all, BEN)),
    [BEN]: taking(at(all, BEN), ['id', 'created_at'], at(all, ANN)),
  }));
  yield record('two ids, their names and times exchanged', (all) => ({
    [ANN]: taking(at(all, ANN), ['id', 'name', 'created_at'], at(all, BEN)),
    [BEN]: taking(at(all, BEN), ['id', 'name', 'created_at'], at(all, ANN)),
  }));
  yield record('the pin of a hand edit', (all) => ({ [BEN]: { ...at(all, BEN), pin: livePin } }));
  for (const [how, more] of Object.entries({
    'under a name of its own': { name: 'Retired desk' },
    'under a name of its own, with its time': {
      created_at: stranger.created_at ?? '',
      name: 'Retired desk',
    },
    'under its live name': { name: stranger.name },
  }))
    yield record(`an address with a stranger's id, ${how}`, (all) => ({
      'agent.retired': {
        ...taking(at(all, OLD), ['created_at'], {}),
        id: stranger.id,
        leaves: {},
        ...more,
        pin: null,
      },
    }));
  yield record('protection taken away', (all) => ({ [OLD]: { ...at(all, OLD), protect: false } }));
  yield ofState('holds taken out', ({ holds: _, ...state }) => state, true);
  yield {
    ...{ name: 'an older serial', of: 'state', isNamed: true },
    make: (files) => new Map([...files, [STATE, older.get(STATE) ?? '']]),
  };
  yield* ofReceipts(stranger);
  yield* ofBoth(stranger);
  yield* ofDeadRuns(stranger, JSON.parse(files.get(STATE) ?? ''));
}

/** The files with the entries of the last run's receipt changed. */
function withReceipt(
  files: Files,
  change: (entries: readonly JournalEntry[]) => readonly JournalEntry[],
): Files {
  const { last_run: run } = JSON.parse(files.get(STATE) ?? '');
  const path = `runs/${run}.jsonl`;
  const lines = (files.get(path) ?? '').split('\n').slice(1).filter(Boolean);
  const entries = lines.map((line): JournalEntry => JSON.parse(line).entry);
  const known = new Map(entries.map((entry, index) => [entry, lines[index]]));
  const text = change(entries).map((entry) => known.get(entry) ?? forgedLine(entry));
  return new Map([...files, [path, `${JOURNAL_HEADER}${text.join('\n')}\n`]]);
}

function ofReceipt(name: string, change: Parameters<typeof withReceipt>[1]): Forgery {
  const make = (files: Files) => withReceipt(files, change);
  return { name, of: 'journal', isNamed: true, make };
}

/** Whatever state and receipt have of an address, as if it were a stranger's. */
function* ofBoth(stranger: ResourceState): Generator<Forgery> {
  const all: readonly Member[] = ['id', 'name', 'created_at', 'pin', 'leaves'];
  for (const address of [ANN, CAT])
    for (const count of [1, 2, 3, 4, 5]) {
      const members = all.slice(0, count);
      const inState = ofRecords('', (resources) => ({
        [address]: taking(at(resources, address), members, stranger),
      }));
      const make = (files: Files): Files => {
        const { resources }: State = JSON.parse(files.get(STATE) ?? '');
        const own = at(resources, address);
        const texts = members.filter((one) => one === 'id' || one === 'name');
        const changed = (entry: JournalEntry): JournalEntry =>
          JSON.parse(
            texts.reduce(
              (text, one) =>
                text.replaceAll(JSON.stringify(own[one]), JSON.stringify(stranger[one])),
              JSON.stringify(entry),
            ),
          );
        return withReceipt(inState.make(files), (entries) => entries.map(changed));
      };
      const name = `${address} ${members.join(' and ')} of a stranger's, in the receipt as well`;
      yield { name, of: 'state', isNamed: true, make };
    }
}

function* ofReceipts(stranger: ResourceState): Generator<Forgery> {
  const copied = (more: object, fields: readonly string[]) => (entries: readonly JournalEntry[]) =>
    entries.map((entry) => {
      if (entry.type === 'snapshot' && entry.document !== null)
        return { ...entry, document: { ...entry.document, ...more } };
      if (entry.type !== 'ended') return entry;
      const ledger = entry.ledger.map((line) => ({ ...line, fields: [...line.fields, ...fields] }));
      return { ...entry, ledger };
    });
  yield ofReceipt('an edited copy in a receipt', copied({ greeting_message: INVENTED }, []));
  yield ofReceipt(
    'an edited copy of a field that the run did not change',
    copied({ system_prompt: INVENTED }, ['system_prompt']),
  );
  yield ofReceipt("the id of a stranger's in a receipt", (entries) => {
    const own = entries.find((entry) => entry.type === 'snapshot' && entry.document !== null);
    if (own?.type !== 'snapshot') throw new Error('the run changed nothing');
    const text = (entry: JournalEntry) =>
      JSON.parse(JSON.stringify(entry).replaceAll(own.id ?? '', stranger.id));
    return entries.map(text);
  });
  yield ofReceipt('an invented creation in a receipt', (entries) =>
    entries.flatMap((entry): readonly JournalEntry[] => {
      if (entry.type === 'began') return [entry, ...creationOf(stranger, entry.at)];
      if (entry.type !== 'ended') return [entry];
      const [line] = entry.ledger;
      if (line === undefined) return [entry];
      const own = {
        ...line,
        address: 'agent.retired',
        action: 'create',
        id: stranger.id,
        fields: ['name'],
        history: null,
      } as const;
      return [{ ...entry, ledger: [...entry.ledger, own] }];
    }),
  );
}

function creationOf(resource: ResourceState, when: string): readonly JournalEntry[] {
  const [address, { kind, id }] = ['agent.retired', resource];
  const before = { document: null, pin: null, resource: null, withheld: [], intended: null };
  return [
    { type: 'snapshot', address, kind, id: null, ...before },
    {
      ...{ type: 'intent', seq: 90, at: when, address, step: 'create', id: null },
      ...{ operation: 'createAgent', fields: ['name'] },
    },
    { type: 'outcome', seq: 90, at: when, ok: true, id, error: null },
    { type: 'resource', address, resource },
  ];
}

function* ofDeadRuns(stranger: ResourceState, { account_id, lineage, serial }: State) {
  const run = 'r-invented';
  const first = { ...began(run, serial, lineage), ...(account_id ? { account_id } : {}) };
  const { kind, id } = stranger;
  const address = 'agent.retired';
  const document = { name: stranger.name, greeting_message: INVENTED };
  const before = { document, pin: null, withheld: [], intended: null };
  const copy = { type: 'snapshot', address, kind, id, ...before } as const;
  const asked = (step: 'update' | 'delete', operation: string, of = address): JournalEntry => ({
    ...{ type: 'intent', seq: 1, at: first.at, address: of, step, operation, id },
    fields: ['greeting_message'],
  });
  const rows: Readonly<Record<string, readonly JournalEntry[]>> = {
    'a creation': creationOf(stranger, first.at),
    'a creation without an answer': creationOf(stranger, first.at).slice(0, 2),
    'an update': [{ ...copy, resource: stranger }, asked('update', 'updateAgent')],
    'a deletion': [{ ...copy, resource: stranger }, asked('delete', 'deleteAgent')],
    'an update of an own address': [
      { ...copy, address: ANN, resource: stranger },
      asked('update', 'updateAgent', ANN),
    ],
    'a record': [{ type: 'resource', address, resource: stranger }],
    'a record of an own address': [{ type: 'resource', address: ANN, resource: stranger }],
  };
  for (const onFailure of [undefined, 'rollback'] as const)
    for (const [what, entries] of Object.entries(rows)) {
      const start = onFailure === undefined ? first : { ...first, on_failure: onFailure };
      const text = [start, ...entries].map((entry) => `${forgedLine(entry)}\n`);
      const forgery: Forgery = {
        name: `an invented dead run with ${what}${onFailure ? ', to be rolled back' : ''}`,
        of: 'journal',
        isNamed: true,
        make: (files) =>
          new Map([...files, [`runs/${run}.open.jsonl`, JOURNAL_HEADER + text.join('')]]),
      };
      yield forgery;
    }
}
