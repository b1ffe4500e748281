import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { version } from '../../src/cli/commands/version.ts';
import { parsePlan, signed } from '../../src/plan/document.ts';
import { planFilePieces } from '../../src/render/json.ts';
import { journalPieces } from '../../src/state/journal-text.ts';
import { openSeals } from '../../src/state/seal.ts';
import { formatState } from '../../src/state/state-text.ts';
import { began, ended, makeFolder, resource, stateWith } from '../state/sample.ts';
import { quietContext } from './quiet-context.ts';

const RUN = '20261121t094500z-1f3a9c';
const SEALS = openSeals({ key: 'a key of the team', place: 'there' });
const STATE = stateWith({ 'agent.desk': resource('a1') }, { last_run: RUN });
const PLAN = readFileSync(
  join(import.meta.dirname, '../schemas/fixtures/v1/callsheet-plan.json'),
  'utf8',
);
/** A line has a checksum, so that a member of a later version is there from the beginning. */
const journalWith = (more: object) => [
  { ...began(RUN), made_by: packageJson.version, ...more },
  ended(),
];
const LATER = 'with a member that is not known';

/** What is kept in files, as this version writes it. */
const FILES: { readonly [file: string]: (more: object) => string | Promise<string> } = {
  state: () => formatState(STATE),
  'sealed state': () => formatState(STATE, SEALS),
  plan: () => [...planFilePieces(signed(parsePlan(PLAN, 'plan.json')))].join(''),
  'record of a run': (more) => [...journalPieces(journalWith(more))].join(''),
  'sealed record of a run': (more) =>
    [...journalPieces(journalWith(more), SEALS.lines(RUN))].join(''),
};

/** What becomes of a file, and the words of the answer. */
const WAYS: {
  readonly [how: string]: { readonly edit: (text: string) => string; readonly says: RegExp };
} = {
  'as it was written': { edit: (text) => text, says: /versions 1 to 1 .* and this file\.$/ },
  'of a newer format': {
    edit: (text) => text.replace(/"version": ?1/, '"version":7'),
    says: /versions 1 to 1 .* not this file: .*version 7/,
  },
  [LATER]: {
    edit: (text) => text.replace(/"(salt|created_at)":/, '"later":1,"$1":'),
    says: /versions 1 to 1 .*(not this file: |and this file)/,
  },
};

const table = Object.keys(FILES).flatMap((file) =>
  Object.keys(WAYS).map((how) => ({
    file,
    how,
    // A journal may have more than is known: what a run did is read all the same.
    isReadable: how === 'as it was written' || (how === LATER && file.includes('record')),
  })),
);

test.each(table)('a $file $how: says who wrote it, and if it is read', async (row) => {
  const { edit = (text: string) => text, says = /./ } = WAYS[row.how] ?? {};
  const text = edit((await FILES[row.file]?.(row.how === LATER ? { later: 1 } : {})) ?? '');
  const { document, out, exit } = await check(text);
  expect(exit).toBe(row.isReadable ? 0 : 1);
  expect(document.checked).toMatchObject({
    made_by: packageJson.version,
    run: row.file === 'plan' ? null : RUN,
    reads: { from: 1, to: 1 },
    readable: row.isReadable,
  });
  expect(document.checked.at).not.toBeNull();
  expect(out).toContain(`written by Callsheet ${packageJson.version}`);
  expect(out).toMatch(says);
});

test('a file of an early version does not say who wrote it', async () => {
  const { document, exit } = await check(PLAN);
  expect(exit).toBe(0);
  expect(document.checked).toMatchObject({ made_by: null, readable: true });
});

test.each(['{"format":"callsheet-error","version":1}', 'callsheet: 1\n', '', '[1]'])(
  'what is none of these is a mistake: %s',
  async (text) => {
    await expect(check(text)).rejects.toThrow('is no state, plan or record of a run');
  },
);

test('without a file it is the version alone', async () => {
  const { context, said } = quietContext();
  expect(await version({ dir: '.', format: 'text' }, context)).toBe(0);
  expect(said.out).toBe('1.2.3\n');
});

async function check(text: string) {
  const file = join(await makeFolder(), 'file');
  await writeFile(file, text);
  const answers = await Promise.all(
    (['json', 'text'] as const).map(async (format) => {
      const { context, said } = quietContext();
      const exit = await version({ dir: '.', format, check: file }, context);
      return { exit, out: said.out };
    }),
  );
  const [json, inWords] = answers;
  expect(json?.exit).toBe(inWords?.exit);
  const out = (inWords?.out ?? '').replaceAll(/\s+/g, ' ').trim();
  return { document: JSON.parse(json?.out ?? ''), out, exit: json?.exit };
}
