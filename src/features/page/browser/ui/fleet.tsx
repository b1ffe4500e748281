import { useMemo, useState } from 'preact/hooks';
import type { StateCommands } from '../../../../core/documents.generated.ts';
import { sanitiseLine } from '../../../../render/untrusted.ts';
import { countKind, formatCount, formatNumber } from '../../../../render/wording.ts';
import type { ResourceFacts } from '../../live.ts';
import type { Packed } from '../../pack.ts';
import { listSquares, type Plan, readPlan, type Square } from '../model/plan.ts';
import { RowsTable } from '../parts/list.tsx';
import { FleetMap, markWords } from '../parts/map.tsx';
import { instant } from '../parts/notes.tsx';
import { Resource } from './resource.tsx';
import { Fetching, useDocument } from './runs.tsx';

type FleetFacts = { readonly [address: string]: ResourceFacts };

/** Resources that are listed at once. */
const STEP = 200;

type FleetProps = { readonly turn: number; readonly hasPlan: boolean };

/** Every resource that the state remembers. */
export function Fleet({ turn, hasPlan }: FleetProps) {
  const fetched = useDocument<StateCommands.List>('fleet.json', turn);
  const facts = useDocument<FleetFacts>('facts.json', turn);
  const packed = useDocument<Packed>(hasPlan ? 'plan.json' : undefined);
  const plan = useMemo(
    () => (packed.state === 'here' ? readPlan(packed.document) : undefined),
    [packed],
  );
  const [words, setWords] = useState('');
  const [open, setOpen] = useState<string>();
  if (open !== undefined)
    return <Resource address={open} turn={turn} onClose={() => setOpen(undefined)} />;
  return (
    <>
      <h1>Fleet</h1>
      <Fetching fetched={fetched} waiting="Reading the state…">
        {(document) => (
          <FleetTable
            document={document}
            facts={facts.state === 'here' ? facts.document : {}}
            plan={plan}
            words={words}
            onSearch={setWords}
            onOpen={setOpen}
          />
        )}
      </Fetching>
    </>
  );
}

type FleetTableProps = {
  readonly document: StateCommands.List;
  /** Empty until it is read. */
  readonly facts: FleetFacts;
  readonly plan: Plan | undefined;
  readonly words: string;
  readonly onSearch: (words: string) => void;
  /** Runs with the address of a resource. */
  readonly onOpen: (address: string) => void;
};

function FleetTable({ document, facts, plan, words, onSearch, onOpen }: FleetTableProps) {
  const { resources, serial, account_id: account } = document;
  const map = useMemo(
    () => <StateMap document={document} facts={facts} plan={plan} onOpen={onSearch} />,
    [document, facts, plan, onSearch],
  );
  const wanted = words.toLowerCase().split(/\s+/);
  const shown = resources.filter(({ address, kind, id, name }) => {
    const { organization = null, status = null } = facts[address] ?? {};
    const text = [address, kind, id, name, organization, status].join(' ').toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
  const kinds = [...Map.groupBy(resources, ({ kind }) => kind)];
  if (resources.length === 0) {
    return <p class="hint">The state holds no resource yet. The first apply fills it.</p>;
  }
  return (
    <>
      <p class="hint">
        As of the last run:{' '}
        {kinds.map(([kind, own]) => sanitiseLine(countKind(own.length, kind))).join(', ')}. State
        serial {formatNumber(serial)}
        {account === null ? '' : `, account ${sanitiseLine(account)}`}.
      </p>
      {map}
      <search class="find">
        <input
          type="search"
          aria-label="Search the fleet"
          placeholder="Search addresses, names, ids, organizations"
          value={words}
          onInput={({ currentTarget }) => onSearch(currentTarget.value)}
        />
        <p role="status">
          {formatNumber(shown.length)} of {formatCount(resources.length, 'resource')}
        </p>
      </search>
      <RowsTable
        label="Resources"
        class="rows fleet"
        heads={['Address', 'Name', 'Organization', 'Status', 'Last run', 'Id']}
        rows={shown}
        step={STEP}
      >
        {({ address, name, id, protect }) => (
          <tr key={address}>
            <th scope="row">
              <button type="button" class="quiet" onClick={() => onOpen(address)}>
                <code>{sanitiseLine(address)}</code>
              </button>
              {protect ? <span class="badge adopt">protected</span> : null}
            </th>
            <td>{sanitiseLine(name)}</td>
            <FactCells facts={facts[address]} />
            <td>
              <code>{sanitiseLine(id)}</code>
            </td>
          </tr>
        )}
      </RowsTable>
    </>
  );
}

/** The agents of the state and of the plan; without a plan, with a frame around what the last run wrote. */
function StateMap({
  document: { resources },
  facts,
  plan,
  onOpen,
}: Omit<FleetTableProps, 'words' | 'onSearch'>) {
  const newest = Object.values(facts).reduce<ResourceFacts['run']>(
    (last, { run }) => (run !== null && run.at > (last?.at ?? '') ? run : last),
    null,
  );
  const known = resources.flatMap(({ kind, address, name }): readonly Square[] => {
    const { organization: owner, run } = facts[address] ?? {};
    const isNew = plan === undefined && run != null && run.id === newest?.id;
    return kind === 'agent'
      ? [{ address, name, owner: owner ?? '', marks: isNew ? ['changed'] : [] }]
      : [];
  });
  const planned = plan === undefined ? [] : listSquares(plan);
  const squares = new Map([...known, ...planned].map((square) => [square.address, square]));
  const words =
    plan === undefined ? { changed: 'written by the last run' } : markWords(plan.head.purpose);
  return (
    <FleetMap
      title="Agents"
      hint="A square is an agent. Select one to find it in the table below."
      squares={[...squares.values()]}
      words={words}
      onOpen={onOpen}
    />
  );
}

/** A dash stands for what is not known here. */
function FactCells({ facts }: { readonly facts: ResourceFacts | undefined }) {
  const { organization = null, status = null, run = null } = facts ?? {};
  return (
    <>
      <td>{sanitiseLine(organization ?? '–')}</td>
      <td class="short">{sanitiseLine(status ?? '–')}</td>
      <td>
        {run === null ? '–' : instant(run.at)}
        {run === null ? null : (
          <>
            {' '}
            <code class="what">{sanitiseLine(run.id)}</code>
          </>
        )}
      </td>
    </>
  );
}
