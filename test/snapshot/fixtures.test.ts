import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeSnapshot } from '../../src/snapshot/file.ts';
import type { ContentRecord } from '../../src/snapshot/format.ts';
import { agentOf, flow, HEADER, readAll, SEALS } from './files.ts';

/** What the files of every version hold, as far as the version knew of it. */
const RECORDS: readonly ContentRecord[] = [
  { type: 'answer', operation: 'getMe', organization_id: null, reseller_id: null, answer: {} },
  {
    type: 'organization',
    id: '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11',
    name: 'Harbor Dental',
    reseller_id: null,
    reseller_name: null,
  },
  agentOf(1, { address: 'agent.reception', withheld: ['extensions.tools[crm].headers[X].value'] }),
  { type: 'list', kind: 'agent', scope: {} },
  { type: 'gap', of: 'knowledge sources', why: 'none is known here' },
];

const FIXTURES = join(import.meta.dirname, 'fixtures');

/** To make the files of a new version: WRITE_FIXTURES=v2 vitest run test/snapshot/fixtures.test.ts */
const { WRITE_FIXTURES: written } = process.env;

if (written !== undefined)
  test.each(SEALS)('the file of a version is written, sealed with $type', async (seal) => {
    await mkdir(FIXTURES, { recursive: true });
    const file = join(FIXTURES, `${written}-${seal.type}.snapshot`);
    await writeSnapshot(file, HEADER, flow(RECORDS), seal);
  });

test.each(SEALS.map(({ type }) => type))(
  'version 1, sealed with %s, is read as it was written',
  async (name) => {
    const { snapshot, records } = await readAll(join(FIXTURES, `v1-${name}.snapshot`));
    expect(snapshot.header).toEqual(HEADER);
    expect(records.slice(0, -1)).toEqual(RECORDS);
  },
);
