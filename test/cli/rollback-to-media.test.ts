import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { type RollbackFlags, rollback } from '../../src/cli/commands/rollback.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { kinds } from '../../src/kinds/index.ts';
import { SAMPLES, STRANGER, TWO } from '../apply/one-of-each.ts';
import { type Stage, staged } from '../apply/stage.ts';
import { longRows } from '../long.ts';
import { take } from '../snapshot/taking.ts';

/**
 * No document holds the file that a resource was made of: a rollback to a snapshot puts the bytes back that the file holds, and
 * names what it cannot put back.
 */

const WAV = (text: string) => `RIFF\u0024\u0000\u0000\u0000WAVE${text}`;
const BASE = '7c346549-f8c6-406a-809e-72392ed69b41';

/** A kind with media, as the stack has it and as it is edited there; what stands on the platform, by id. */
type Media = {
  readonly kind: string;
  readonly files: (text: string) => Readonly<Record<string, string>>;
  readonly yaml: (isEdited: boolean) => JsonObject;
  readonly live: (stage: Stage) => Map<string, { readonly bytes: string }>;
  readonly remove: (stage: Stage, id: string) => void;
  /** The name that `SAMPLES` plants a stranger under. */
  readonly name: string;
  /** Tells if an edit leaves the address with another name, under which nothing finds it without the state. */
  readonly isRenamed: boolean;
};

const MEDIA: readonly Media[] = [
  {
    kind: 'knowledge_source',
    files: (text) => ({ 'documents/Own.csv': `${text}\n1,2\n` }),
    yaml: () => ({
      knowledge_bases: { clinic: { id: BASE, sources: { one: { file: 'documents/Own.csv' } } } },
    }),
    live: ({ sim: { store } }) =>
      new Map([...store.sources].map(([id, { upload }]) => [id, { bytes: String(upload?.bytes) }])),
    remove: ({ sim: { store } }, id) => store.sources.delete(id),
    name: 'Own',
    isRenamed: false,
  },
  {
    kind: 'custom_voice',
    files: (text) => ({ 'voices/own.wav': WAV(text) }),
    yaml: (isEdited) => ({
      custom_voices: {
        one: { name: isEdited ? 'Other' : 'Own', clip: 'voices/own.wav', consent: true },
      },
    }),
    live: ({ sim: { store } }) =>
      new Map([...store.voices].map(([id, { clip }]) => [id, { bytes: String(clip) }])),
    remove: ({ sim: { store } }, id) => store.voices.delete(id),
    name: 'Own',
    isRenamed: true,
  },
];

/** Changes since the snapshot. */
const CHANGES = [
  'the same',
  'edited',
  'deleted',
  'replaced on the platform',
  'edited, and what it was deleted',
] as const;
type Change = (typeof CHANGES)[number];

type Row = {
  readonly media: Media;
  readonly change: Change;
  readonly isHeld: boolean;
  readonly isStateKept: boolean;
};

const ROWS: readonly Row[] = MEDIA.flatMap((media) =>
  CHANGES.flatMap((change) =>
    [true, false].flatMap((isHeld) =>
      [true, false].map((isStateKept) => ({ media, change, isHeld, isStateKept })),
    ),
  ),
);

type Outcome = {
  readonly exit: number;
  /** Tells if the bytes of then are live. */
  readonly isBack: boolean;
  /** Words that every view has of it. */
  readonly says: readonly string[];
};

/** The outcome of a row. `since`: the id of what the stack made since, or somebody else. */
function outcomeOf({ media, change, isHeld, isStateKept }: Row, since: string): Outcome {
  const isKnown = isStateKept || !media.isRenamed;
  const stays = [`custom_voice.one`, since];
  const lost = { exit: 3, isBack: false, says: ['does not hold its bytes'] };
  switch (change) {
    case 'the same':
      return { exit: 0, isBack: true, says: [] };
    case 'edited':
      return isKnown
        ? { exit: 3, isBack: true, says: [since, 'stays'] }
        : { exit: 0, isBack: true, says: [] };
    case 'deleted':
      return isHeld ? { exit: 0, isBack: true, says: [] } : lost;
    case 'replaced on the platform':
      if (!isHeld) return lost;
      return media.kind === 'custom_voice'
        ? { exit: 4, isBack: false, says: stays }
        : { exit: 3, isBack: true, says: [since, 'stays'] };
    case 'edited, and what it was deleted':
      if (!isHeld) return lost;
      return isKnown
        ? { exit: 3, isBack: true, says: [since, 'stays'] }
        : { exit: 0, isBack: true, says: [] };
  }
}

async function put(stage: Stage, { files, yaml }: Media, text: string, isEdited: boolean) {
  for (const [name, bytes] of Object.entries(files(text))) await stage.write(name, bytes);
  await stage.write('one.yaml', `${JSON.stringify(yaml(isEdited))}\n`);
}

/** Changes it, and gives the id of what stands there since. */
async function change(stage: Stage, { media, change }: Row, id: string): Promise<string> {
  const isEdited = change.startsWith('edited');
  if (isEdited) {
    await put(stage, media, 'since', true);
    await stage.apply();
  }
  if (!['the same', 'edited'].includes(change)) media.remove(stage, id);
  const sample = SAMPLES.find(({ kind }) => kind === media.kind);
  if (change === 'replaced on the platform') sample?.stranger(stage, media.name, false);
  return [...media.live(stage).keys()].find((one) => one !== id) ?? STRANGER;
}

async function goThrough(stage: Stage, row: Row): Promise<void> {
  const { media, isHeld, isStateKept } = row;
  await stage.remove('agents.yaml');
  await stage.remove('resources.yaml');
  await put(stage, media, 'then', false);
  await stage.apply();
  const [id = ''] = media.live(stage).keys();
  const { file } = await take(stage, 'then.snapshot', { media: isHeld });
  const since = await change(stage, row, id);
  if (!isStateKept) await rm(join(stage.folder, '.callsheet'), { recursive: true, force: true });
  const { exit, isBack, says } = outcomeOf(row, since);
  const view = async (flags: Partial<RollbackFlags>, code: number, said = says) => {
    const given = { dir: stage.folder, format: 'text', autoApprove: true, to: file } as const;
    const { out, err } = await stage.run((to) => rollback({ ...given, ...flags }, to), {
      exit: code,
    });
    const text = `${out} ${err}`.replace(/\s+/g, ' ');
    for (const one of said) expect(text, JSON.stringify(flags)).toContain(one);
    if (said.length > 0) expect(text).not.toContain('Everything is as in');
    return { out, text };
  };
  const before = stage.writes().length;
  const dry = exit === 4 ? 4 : 0;
  await view({ dryRun: true }, dry);
  await view({ dryRun: true, format: 'json' }, dry);
  expect(stage.writes().length).toBe(before);
  const { out } = await view({ format: 'json' }, exit);
  const isLive = () =>
    [...media.live(stage).values()].some(
      ({ bytes }) => media.files('then')[fileOf(media)] === bytes,
    );
  expect(isLive(), 'the bytes of then are live').toBe(isBack);
  if (exit === 3) {
    const { verification } = JSON.parse(out);
    expect(verification.left.map(({ address }: JsonObject) => address)).toContain(addressOf(media));
    // Each says how to go on, and with which command.
    for (const { advice } of verification.left) expect(advice).toMatch(/`callsheet |dashboard/);
  }
  const after = stage.writes().length;
  // A voice of another name is unknown once the address stands for the first one again.
  const isForgotten = media.isRenamed && exit === 3 && isBack;
  const { text } = await view({}, isForgotten ? 0 : exit, isForgotten ? [] : says);
  if (exit === 3 && !isForgotten) expect(text).toContain('Not restored');
  expect(stage.writes().length, 'a second one writes nothing').toBe(after);
}

function fileOf({ files }: Media): string {
  return Object.keys(files(''))[0] ?? '';
}

function addressOf({ kind }: Media): string {
  return kind === 'knowledge_source' ? 'knowledge_source.clinic.one' : `${kind}.one`;
}

describe('every kind with media', () => {
  const having = kinds.filter(({ schema }) =>
    Object.values(schema.properties ?? {}).some((field) => field['x-file'] !== undefined),
  );
  expect(MEDIA.map(({ kind }) => kind).sort()).toEqual(having.map(({ name }) => name).sort());

  const isShort = ({ isHeld, isStateKept }: Row) => isHeld === isStateKept;
  for (const row of longRows(ROWS, isShort)) {
    const { media, change, isHeld, isStateKept } = row;
    const where = isHeld ? 'its bytes in the file' : 'its bytes not in the file';
    const state = isStateKept ? 'state kept' : 'state lost';
    staged(`${media.kind}: ${change}, ${where}, ${state}`, (stage) => goThrough(stage, row), {
      seed: TWO,
    });
  }
});
