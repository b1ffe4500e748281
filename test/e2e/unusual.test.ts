import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Files, folderOf } from '../stack/stack-folder.ts';
import { stackWith, UNUSUAL } from '../stack/unusual.ts';
import { temporaryFolder } from '../temporary.ts';
import { CLINIC, SEED } from './clinic.ts';
import { scenario } from './harness.ts';

const MAIN = readFileSync(join(CLINIC, 'callsheet.yaml'), 'utf8');
const [base] = SEED.knowledge_bases ?? [];

/** Rows that the simulated account has no counterpart for, and a document that it finds nothing to ingest in. */
const HAS_NOT = [
  'model alpha-5',
  'model ALPHA-4.1',
  'stt_model that is new',
  'policy by an id in capitals',
  'SIP on',
  'document empty.txt, 0 bytes',
];

const rows = UNUSUAL.filter(
  ({ refused, title }) => refused === undefined && !HAS_NOT.includes(title),
);
const knowledgeBases = rows.map((_, at) => ({
  id: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`,
  organization_id: base?.organization_id ?? '',
  name: `Base ${at}`,
}));

const files: Files = {
  'callsheet.yaml': MAIN,
  ...Object.fromEntries(
    rows.flatMap((row, at) => [
      [`${at}.yaml`, JSON.stringify(stackWith(row, `r${at}`, knowledgeBases[at]?.id ?? ''))],
      ...Object.entries(row.files ?? {}),
    ]),
  ),
};

scenario(
  'what the specification allows is applied, and exported to a stack that plans nothing',
  async (world) => {
    await world.apply();
    const out = join(temporaryFolder(), 'exported');
    const bases = rows.flatMap(({ of }, at) =>
      of === 'knowledge_bases' ? ['--knowledge-base', `kb${at}=${knowledgeBases[at]?.id}`] : [],
    );
    const { out: said } = await world.run(['export', '--out', out, ...bases, '--format', 'json']);
    const remarks: readonly { readonly reason: string }[] = JSON.parse(said).remarks;
    const others = remarks.filter(
      ({ reason }) => !/^it (?:may be a secret|needs a file)/.test(reason),
    );
    expect(others).toEqual([]);
    await world.run(['plan', '--dir', out, '--detailed-exitcode']);
  },
  {
    stack: folderOf(files),
    seed: { ...SEED, knowledge_bases: knowledgeBases },
    dialect: { values: 'any' },
  },
);
