import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { Seal } from '../../src/snapshot/container.ts';
import { refuseExisting, writeSnapshot } from '../../src/snapshot/file.ts';
import type { ContentRecord } from '../../src/snapshot/format.ts';
import { canMount, withSmallDisk } from '../e2e/small-disk.ts';
import { withReason } from '../long.ts';
import { deep } from '../state/sample.ts';
import {
  agentOf,
  flow,
  folder,
  HEADER,
  KEYS,
  NO_KEYS,
  PASSPHRASE,
  readAll,
  refusal,
  SEALS,
  written,
  zipped,
} from './files.ts';

/** More than one piece of 64 KiB, whatever is done to it: the text cannot be compressed. */
const MANY: readonly ContentRecord[] = Array.from({ length: 3 }, (_, index) =>
  agentOf(index, { record: { prompt: noise(index + 1, 90_000) } }),
);

function noise(seed: number, length: number): string {
  let text = '';
  for (let block = 0; text.length < length; block += 1)
    text += createHash('sha512').update(`${seed} ${block}`).digest('base64');
  return text;
}

/** One byte changed. */
function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** Bytes before the pieces. */
const NONCE = 16;
const PIECE = 64 * 1024;

describe.each(SEALS)('a snapshot that is sealed with $type', (seal) => {
  test('is read as it was written', async () => {
    const { file, end } = await written(MANY, seal);
    const { snapshot, records } = await readAll(file);
    expect(snapshot.header).toEqual(HEADER);
    expect(records).toEqual([...MANY, end]);
    expect(end).toMatchObject({ records: { resource: 3 }, resources: { agent: 3 } });
  });

  test('may hold nothing', async () => {
    const { file, end } = await written([], seal);
    expect((await readAll(file)).records).toEqual([end]);
  });

  test('can be read by its owner alone, and leaves nothing beside it', async () => {
    const { file } = await written(MANY, seal);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(file))).toEqual(['then.snapshot']);
  });

  test('is refused in words wherever it is cut off', async () => {
    const { file } = await written(MANY, seal);
    const bytes = await readFile(file);
    expect(bytes.length).toBeGreaterThan(3 * PIECE);
    const lengths = [0, 1, 20, 60, 150, 230, 400, 70_000, 2 ** 17, bytes.length - 1];
    for (const length of lengths) {
      await writeFile(file, bytes.subarray(0, length));
      expect(await refusal(file), `${length} bytes`).toMatch(
        /is damaged: |is not a snapshot of Callsheet/,
      );
    }
  });

  test('is refused in words whatever was changed in it', async () => {
    const { file } = await written(MANY, seal);
    const bytes = await readFile(file);
    // The time stands in the header of gzip, which nobody reads, but for the seal around it.
    const places = [0, 40, 130, 200, 300, 1_000, 70_000, bytes.length - 1];
    for (const at of places) {
      await writeFile(file, flipped(bytes, at));
      expect(await refusal(file), `byte ${at}`).toMatch(
        /is damaged: |is not a snapshot of Callsheet|cannot be decrypted/,
      );
    }
  });

  test('leaves nothing behind where it cannot be finished', async () => {
    const file = join(await folder(), 'then.snapshot');
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), {
      code: 'ENOSPC',
      syscall: 'write',
    });
    async function* failing(): AsyncGenerator<ContentRecord> {
      yield* MANY;
      throw full;
    }
    await expect(writeSnapshot(file, HEADER, failing(), seal)).rejects.toThrow(
      `${file} cannot be written: the disk is full`,
    );
    expect(await readdir(dirname(file))).toEqual([]);
  });
});

describe('an encrypted snapshot', () => {
  const sealed = SEALS.filter(({ type }) => type !== 'none');

  test.each(sealed)('with $type shows nothing of what it holds', async (seal) => {
    const { file } = await written([agentOf(1)], seal);
    const text = (await readFile(file)).toString('latin1');
    expect(text).not.toContain('Agent');
    expect(text).not.toContain('resource');
  });

  test.each(sealed)('with $type asks for its key', async (seal) => {
    const { file } = await written([agentOf(1)], seal);
    expect(await refusal(file, NO_KEYS)).toMatch(/cannot be decrypted: it (needs|is encrypted)/);
  });

  test('says that the passphrase is another one', async () => {
    const { file } = await written([agentOf(1)], SEALS[1]);
    const keys = { ...KEYS, passphrase: async () => 'another passphrase' };
    expect(await refusal(file, keys)).toContain('the passphrase is another one');
  });

  test('says that it was encrypted for other keys', async () => {
    const { generateIdentity } = await import('age-encryption');
    const other = await generateIdentity();
    const { file } = await written([agentOf(1)], SEALS[2]);
    expect(await refusal(file, { ...KEYS, identities: async () => [other] })).toContain(
      'it was encrypted for other keys',
    );
  });

  test('takes the same passphrase however it was typed', async () => {
    const composed: Seal = {
      type: 'passphrase',
      passphrase: 'caf\u00e9 au lait, deux',
      workFactor: 4,
    };
    const { file } = await written([agentOf(1)], composed);
    const keys = { ...KEYS, passphrase: async () => 'cafe\u0301 au lait, deux' };
    expect(await refusal(file, keys)).toBeUndefined();
  });

  test('with a passphrase is a file of age, whoever wrote it', async () => {
    const { Decrypter, Encrypter } = await import('age-encryption');
    const { file } = await written([agentOf(1)], SEALS[1]);
    const decrypter = new Decrypter();
    decrypter.addPassphrase(PASSPHRASE);
    const packed = await decrypter.decrypt(await readFile(file));
    expect(gunzipSync(packed).toString()).toContain('"name":"Agent 1"');

    const encrypter = new Encrypter();
    encrypter.setPassphrase(PASSPHRASE);
    encrypter.setScryptWorkFactor(11);
    await writeFile(file, await encrypter.encrypt(packed));
    expect(await refusal(file, KEYS)).toBeUndefined();
  });

  test('derives the key of a passphrase once', async () => {
    const { file } = await written([agentOf(1)], SEALS[1]);
    const keys = { ...KEYS, derived: new Map<string, Promise<Uint8Array>>() };
    expect(await refusal(file, keys)).toBeUndefined();
    expect(keys.derived.size).toBe(1);
  });

  test('with a passphrase is refused where its pieces were exchanged, doubled or left out', async () => {
    const { file } = await written(MANY, SEALS[1]);
    const bytes = await readFile(file);
    const head = bytes.indexOf(10, bytes.indexOf('\n--- ') + 1) + 1 + NONCE;
    const piece = PIECE + 16;
    const at = (index: number) => bytes.subarray(head + index * piece, head + (index + 1) * piece);
    const rest = bytes.subarray(head + 2 * piece);
    const orders = [
      [at(1), at(0), rest],
      [at(0), at(0), rest],
      [at(1), rest],
      [at(0), at(1)],
    ];
    for (const order of orders) {
      await writeFile(file, Buffer.concat([bytes.subarray(0, head), ...order]));
      expect(await refusal(file)).toMatch(/is damaged: it was (cut off or )?changed/);
    }
  });

  test('with a passphrase asks for no more memory than a key may cost', async () => {
    const { file } = await written([agentOf(1)], SEALS[1]);
    const text = (await readFile(file)).toString('latin1');
    expect(text).toMatch(/ 4\n/);
    await writeFile(file, Buffer.from(text.replace(/ 4\n/, ' 30\n'), 'latin1'));
    expect(await refusal(file)).toContain('its beginning was changed');
  });
});

describe('what is refused', () => {
  const end = (sha256: string) =>
    ({ type: 'end', records: {}, resources: {}, withheld: 0, sha256 }) as const;
  const rows: readonly (readonly [string, Buffer, RegExp])[] = [
    ['an empty file', Buffer.alloc(0), /is not a snapshot/],
    ['a text', Buffer.from('callsheet: 1\n'), /is not a snapshot/],
    ['another compressed text', gzipSync('hello\n'), /is not a snapshot/],
    ['another compressed document', zipped(['{"format":"other"}']), /is not a snapshot/],
    ['a compressed nothing', gzipSync(''), /is not a snapshot/],
    [
      'a newer version',
      zipped([{ ...HEADER, version: 2 }]),
      /has version 2 of the format; this Callsheet reads up to 1/,
    ],
    ['one without its end', zipped([HEADER, agentOf(1)]), /its end is missing, so it was cut off/],
    [
      'one whose end is of another',
      zipped([HEADER, agentOf(1), end('sha256:other')]),
      /its contents were changed after they were written/,
    ],
    ['a record of no known type', zipped([HEADER, '{"type":"song"}']), /no known type/],
    ['a record that is no JSON', zipped([HEADER, '{"type":']), /is not JSON/],
    [
      'a record of 10,000 levels',
      zipped([HEADER, `{"type":"answer","value":${deep(10_000)}}`]),
      /a record in it has JSON of more than 128 levels/,
    ],
    ['a list for a record', zipped([HEADER, '[]']), /a record in it is none/],
    ['bytes that are no text', gzipSync(Buffer.from([0xff, 0xfe, 0x0a])), /bytes that are no text/],
  ];
  test.each(rows)('%s', async (_what, bytes, message) => {
    const file = join(await folder(), 'odd.snapshot');
    await writeFile(file, bytes);
    expect(await refusal(file)).toMatch(message);
  });

  test('what follows the end', async () => {
    const { file } = await written([agentOf(1)]);
    const text = gunzipSync(await readFile(file)).toString();
    await writeFile(file, gzipSync(`${text}{"type":"gap","of":"x","why":"y"}\n`));
    expect(await refusal(file)).toContain('something follows its end');
  });

  test('a folder, and a file that is not there', async () => {
    const dir = await folder();
    expect(await refusal(dir)).toContain('cannot be read: it is a folder');
    expect(await refusal(join(dir, 'none'))).toContain('there is no such file or folder');
  });

  test('a name that is taken', async () => {
    const { file } = await written([agentOf(1)]);
    await expect(refuseExisting(file)).rejects.toThrow('never overwrites a snapshot');
  });

  test('a folder that is not there, when it is written', async () => {
    const file = join(await folder(), 'no', 'then.snapshot');
    await expect(writeSnapshot(file, HEADER, flow(MANY), { type: 'none' })).rejects.toThrow(
      'cannot be written: there is no such file or folder',
    );
  });
});

// Elsewhere the failing source above must do.
const HAS_DISK = canMount();
describe.runIf(HAS_DISK)(withReason('a disk', HAS_DISK, 'only the superuser can mount one'), () => {
  test('that fills up: the sentence says so, and the room is free again', async () => {
    const disk = join(await folder(), 'disk');
    await withSmallDisk(disk, 64, async () => {
      const file = join(disk, 'then.snapshot');
      await expect(writeSnapshot(file, HEADER, flow(MANY), { type: 'none' })).rejects.toThrow(
        `${file} cannot be written: the disk is full`,
      );
      expect(await readdir(disk)).toEqual([]);
    });
  });
});
