import { useState } from 'preact/hooks';
import type { StateCommands } from '../../../core/documents.generated.ts';
import { sanitiseLine } from '../../../render/untrusted.ts';
import { countKind, formatCount, formatNumber } from '../../../render/wording.ts';
import type { ResourceFacts } from '../../live.ts';
import { RowsTable } from '../parts/list.tsx';
import { instant } from '../parts/notes.tsx';
import { Fetching, useDocument } from './runs.tsx';

type FleetFacts = { readonly [address: string]: ResourceFacts };

/** Resources that are listed at once. */
const STEP = 200;

/** Every resource that the state remembers. */
export function Fleet({ turn }: { readonly turn: number }) {
  const fetched = useDocument<StateCommands.List>('fleet.json', turn);
  const facts = useDocument<FleetFacts>('facts.json', turn);
  return (
    <>
      <h1>Fleet</h1>
      <Fetching fetched={fetched} waiting="Reading the state…">
        {(document) => (
          <FleetTable document={document} facts={facts.state === 'here' ? facts.document : {}} />
        )}
      </Fetching>
    </>
  );
}

function FleetTable({
  document: { resources, serial, account_id: account },
  facts,
}: {
  readonly document: StateCommands.List;
  /** Empty until it is read. */
  readonly facts: FleetFacts;
}) {
  const [words, setWords] = useState('');
  const wanted = words.toLowerCase().split(/\s+/);
  const shown = resources.filter(({ address, kind, id, name }) => {
    const { organization = null, status = null } = facts[address] ?? {};
    const told = [address, kind, id, name, organization, status].join(' ').toLowerCase();
    return wanted.every((word) => told.includes(word));
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
      <search class="find">
        <input
          type="search"
          aria-label="Search the fleet"
          placeholder="Search addresses, names, ids, organizations"
          value={words}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
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
              <code>{sanitiseLine(address)}</code>
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
