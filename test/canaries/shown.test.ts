import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isList, isObject, type JsonObject } from '../../src/core/value.ts';
import { startSimulator } from '../../src/simulator/index.ts';
import { VIEWS } from '../apply/stage.ts';
import { COMMIT } from '../e2e/clinic.ts';
import { runHere } from '../e2e/in-process.ts';
import { longRows } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';
import { filesBelow } from './leaks.ts';
import { CASES, type Case, FORMS, PLACES, readTable, stackOf, type Word } from './shown.ts';

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const TABLE = readTable();
const PLAN = 'plan, drift';
const REPORTS = 'frames, reports, messages';

/** The word of the table for a case in a column. `from`: who gives the value. */
function wordFor({ form, place }: Case, column: string, from: string = form.from): Word {
  const word = TABLE.get(`${from}: ${place.because}`)?.[column];
  if (word === undefined) throw new Error(`the table has no ${from}: ${place.because}`);
  return word;
}

/** Who gave a live value that Callsheet wrote. */
const written = ({ form }: Case) =>
  form.from === 'the files' ? 'the platform, and the files gave it' : 'the platform';

const byId = new Map(CASES.map((one) => [one.id, one]));
const CANARY = /canary-(p\d+f\d+)-([abc])/g;

/** The canaries of a text that stand there although the word for them is another than `whole`. */
function leaksIn(text: string, wordOf: (one: Case, generation: string) => Word): readonly string[] {
  const found = new Set<string>();
  for (const { 0: canary, 1: id = '', 2: generation = '', index } of text.matchAll(CANARY)) {
    const one = byId.get(id);
    if (one !== undefined && wordOf(one, generation) === 'whole') continue;
    found.add(`${one?.title}: …${text.slice(Math.max(0, index - 60), index + canary.length)}…`);
  }
  return [...found];
}

/** A value as an output has it where the table has a word. */
function reading(one: Case, generation: string, word: Word): string {
  switch (word) {
    case 'whole':
      return one.valueOf(generation);
    case 'host':
      return `${one.host}/(secret)`;
    case 'part':
      return `${one.host}/in?api_key=(secret)`;
    default:
      return `env:SECRET_${one.id}`;
  }
}

/** Opens a stack with every case, on a platform of its own. */
async function openStage() {
  const sim = await startSimulator({
    seed: {
      organizations: [{ id: HARBOR, name: 'Harbor' }],
      keys: [{ client_id: 'shown', client_secret: 'shown-secret' }],
    },
  });
  onTestFinished(() => sim.close());
  const [folder, outside] = [temporaryFolder(), temporaryFolder()];
  let stack = stackOf('a', HARBOR);
  const write = async (generation: string, status?: string) => {
    stack = stackOf(generation, HARBOR, status);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(stack.files))
      await writeFile(join(folder, name), text);
  };
  const run = async (...line: readonly string[]) => {
    const { flags, env } = stack;
    // Nothing is broken over lines.
    const given = { COLUMNS: '1000', CI_COMMIT_SHA: COMMIT, CALLSHEET_FINGERPRINT_KEY: 'a key' };
    return await runHere([...line, '--dir', folder, ...flags], {
      cwd: folder,
      env: {
        ...given,
        ...env,
        CALLSHEET_BASE_URL: sim.url,
        CALLSHEET_CLIENT_ID: 'shown',
        CALLSHEET_CLIENT_SECRET: 'shown-secret',
      },
    });
  };
  const kept = async () => [
    ...(await filesBelow(folder, new Set(Object.keys(stack.files)))),
    ...(await filesBelow(outside, new Set())),
  ];
  await write('a');
  return { sim, folder, outside, write, run, kept };
}

const FORMATS = ['text', 'json', 'markdown', ...VIEWS];

/** Formats that are looked at: all of them in `npm run torture`. */
function formats(...some: readonly string[]): readonly string[] {
  return longRows(FORMATS, (format) => some.includes(format));
}

/** Both sides of each changed field of each agent, as JSON. */
function sidesIn(out: string, side: 'before' | 'after'): ReadonlyMap<string, string> {
  const { changes }: { readonly changes: readonly JsonObject[] } = JSON.parse(out);
  return new Map(
    changes.map(({ address, fields }) => [
      String(address),
      (isList(fields) ? fields : [])
        .map((field) => JSON.stringify(isObject(field) ? field[side] : null))
        .join('\n'),
    ]),
  );
}

/** Cases whose side does not read as the table says. */
function misreadIn(
  sides: ReadonlyMap<string, string>,
  generation: string,
  wordOf: (one: Case) => Word,
): readonly string[] {
  return CASES.flatMap((one) => {
    const word = wordOf(one);
    const text = reading(one, generation, word);
    const side = sides.get(one.address) ?? 'nothing';
    return side.includes(text) ? [] : [`${one.title} is to be ${word}, ${text}, and is ${side}`];
  });
}

test('the table has a row for each case', () => {
  expect(TABLE.size).toBe(18);
  expect(new Set(CASES.map(({ form }) => form.name)).size).toBe(FORMS.length);
  expect(new Set(CASES.map(({ place }) => place.name)).size).toBe(PLACES.length);
  for (const one of CASES) wordFor(one, PLAN);
});

describe('what the table says of secrets', {
  timeout: longRows([900_000, 300_000], (_, at) => at === 1)[0] ?? 0,
}, () => {
  test('is what plans, drift and what is kept show', async () => {
    const stage = await openStage();
    const { run, sim, outside } = stage;
    const inPlan = (one: Case, generation: string) =>
      generation === 'c' ? wordFor(one, PLAN, 'the platform') : wordFor(one, PLAN);
    const leaks = async (wordOf: typeof inPlan, ...line: readonly string[]) => {
      const { out, err } = await run(...line);
      expect(leaksIn(out + err, wordOf), line.join(' ')).toEqual([]);
      return out;
    };
    const trace = ['--trace-http', join(outside, 'trace.jsonl')];
    const created = await leaks(inPlan, 'plan', '--format', 'json', ...trace);
    expect(misreadIn(sidesIn(created, 'after'), 'a', (one) => wordFor(one, PLAN))).toEqual([]);
    const events = ['--events', join(outside, 'events.jsonl')];
    const { exit, err } = await run('apply', '--auto-approve', '--verbose', ...events, ...trace);
    expect(exit, err).toBe(0);
    expect((await run('plan', '--detailed-exitcode')).exit).toBe(0);

    await stage.write('b');
    for (const format of formats('text', ...VIEWS))
      await leaks(inPlan, 'plan', '--verbose', '--format', format);
    const changed = await leaks(inPlan, 'plan', '--format', 'json', '--resend-secrets');
    const before = sidesIn(changed, 'before');
    const after = sidesIn(changed, 'after');
    expect(misreadIn(after, 'b', (one) => wordFor(one, PLAN))).toEqual([]);
    const isReturned = (one: Case) => one.form.from !== '$secret';
    const writtenWord = (one: Case) =>
      isReturned(one) ? wordFor(one, PLAN, written(one)) : ('host' as const);
    expect(misreadIn(before, 'a', writtenWord).filter(isOfReturned)).toEqual([]);

    for (const [id, { record }] of [...sim.store.agents]) {
      const one = byId.get(String(record.name).slice('Case '.length));
      if (one !== undefined) sim.edit(id, editOf(one));
    }
    for (const format of formats('markdown'))
      await leaks(inPlan, 'plan', '--verbose', '--format', format);
    for (const format of formats('text'))
      await leaks(inPlan, 'drift', '--verbose', '--format', format);
    const drifted = sidesIn(await leaks(inPlan, 'drift', '--format', 'json'), 'after');
    const theirs = (one: Case) => wordFor(one, PLAN, 'the platform');
    expect(misreadIn(drifted, 'c', theirs).filter(isOfReturned)).toEqual([]);

    const isLive = (one: Case) => wordFor(one, 'live values', 'the platform');
    for (const one of CASES.filter(isReturned).filter((_, at) => at % 9 === 0)) {
      const got = await leaks(isLive, 'get', 'agent', one.address, '--format', 'json', ...trace);
      expect(got, one.title).toContain(reading(one, 'c', isLive(one)));
    }
    await leaks(isLive, 'get', 'agents', '--format', 'json');
    await leaks(isLive, 'export', '--out', join(outside, 'exported'));
    await leaks(isLive, 'pull', '--theirs', '--dry-run', '--skip-refused', '--override');
    await leaks(isLive, 'snapshot', 'create', '--out', join(outside, 'plain.snapshot'));
    await leaks(isLive, 'history', CASES[0]?.address ?? '');
    await leaks(isLive, 'log');
    for (const { address } of CASES.filter((_, at) => at % 9 === 0))
      await leaks(isLive, 'log', address);
    for (const { name, text } of await stage.kept())
      expect(
        leaksIn(text, (one) => wordFor(one, 'kept')),
        name,
      ).toEqual([]);
  });

  test('is what every view of a plan shows of a literal', async () => {
    const stage = await openStage();
    await stage.run('apply', '--auto-approve');
    await stage.write('b');
    const literals = CASES.filter(({ form }) => ['literal', 'cell', 'patch'].includes(form.name));
    for (const one of literals) {
      const view = FORMATS.filter((format) => format !== 'json');
      for (const format of longRows(view, (_, at) => at === literals.indexOf(one) % 3)) {
        const line = ['plan', '--target', one.address, '--format', format];
        const { out } = await stage.run(...line);
        const shown = decoded(out);
        const [before, after] = [wordFor(one, PLAN, written(one)), wordFor(one, PLAN)];
        expect(shown, `${one.title} ${format}`).toContain(plain(reading(one, 'b', after)));
        expect(shown, `${one.title} ${format}`).toContain(plain(reading(one, 'a', before)));
      }
    }
  });

  test('is what explain shows', async () => {
    const stage = await openStage();
    const some = longRows(CASES, (_, at) => at % 2 === 0);
    for (const [at, one] of some.entries()) {
      const format = at % 2 === 0 ? 'json' : 'text';
      const { out, exit, err } = await stage.run(
        ...['explain', one.address, '--format', format, '--verbose'],
      );
      expect(exit, err).toBe(0);
      const word = wordFor(one, 'explain');
      expect(
        leaksIn(out, () => 'none'),
        one.title,
      ).toEqual([]);
      expect(decoded(out), one.title).toContain(plain(reading(one, 'a', word)));
    }
  });

  test('is what reports and frames show, whatever is wrong beside it', async () => {
    const stage = await openStage();
    const inReport = (one: Case) => wordFor(one, REPORTS);
    const everywhere = async () => {
      for (const format of ['text', 'json', 'sarif', 'junit', 'github']) {
        const { out, err } = await stage.run('validate', '--verbose', '--format', format);
        expect(leaksIn(out + err, inReport), format).toEqual([]);
      }
      const { out, err } = await stage.run('plan', '--verbose');
      return out + err;
    };
    await everywhere();
    await stage.write('a', 'wrong');
    await everywhere();
    const tables = Object.entries(stackOf('a', HARBOR).files).filter(([name]) =>
      name.endsWith('.csv'),
    );
    for (const [name, text] of tables)
      await writeFile(join(stage.folder, name), `${text}x,wrong\n"`);
    expect(leaksIn(await everywhere(), inReport)).toEqual([]);
  });

  test('is warned of where it stands in the files', async () => {
    const stage = await openStage();
    const { out } = await stage.run('validate', '--format', 'json');
    const { diagnostics }: { readonly diagnostics: readonly JsonObject[] } = JSON.parse(out);
    const warned = Map.groupBy(diagnostics, ({ address }) => String(address));
    const isWarned = ({ form, place }: Case) =>
      form.from === 'the files' && !UNTOLD.includes(place.name);
    const wrong = CASES.flatMap((one) => {
      const found = (warned.get(one.address) ?? []).map(({ rule, position }) =>
        isObject(position) ? `${rule} ${position.file}` : '',
      );
      const wanted = isWarned(one) ? [`${ruleOf(one)} ${fileOf(one)}`] : [];
      return JSON.stringify(found) === JSON.stringify(wanted)
        ? []
        : [`${one.title}: ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`];
    });
    expect(wrong).toEqual([]);
  });
});

/** Places that have no secret's name. */
const UNTOLD = ['auth_header', 'provider'];

function ruleOf({ place }: Case): string {
  if (place.because === 'x-sensitive') return 'secret/plain-header';
  return place.because === 'its name' ? 'secret/plain-name' : 'secret/plain-address';
}

/** The file that has what is secret. */
function fileOf({ id, written }: Case): string {
  const { rows, given, file = '' } = written('a');
  if (rows !== undefined && rows !== 'inline') return `${id}.${rows}`;
  return given === undefined && file.includes('canary') ? `${id}.md` : 'callsheet.yaml';
}

/** Values that the platform never returns have no side. */
function isOfReturned(line: string): boolean {
  return !line.startsWith('secret,');
}

/** Somebody's edit in the dashboard, under the names of the platform. */
function editOf(one: Case): JsonObject {
  const { unchecked, ...own } = one.place.put(one.valueOf('c'));
  return { ...own, ...(isObject(unchecked) ? unchecked : {}) };
}

/** Characters that formats write differently are left out. */
function plain(text: string): string {
  return text.replace(/[^\w.-]/g, '');
}

function decoded(text: string): string {
  return plain(text.replace(/&[#\w]+;/g, '').replace(/<[^>]*>/g, ''));
}
