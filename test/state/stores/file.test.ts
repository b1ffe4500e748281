import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { realDisk } from '../../../src/state/file/disk.ts';
import { openFileStore } from '../../../src/state/file/store.ts';
import { steppedDisk } from '../breaking.ts';
import { makeFolder, sealed } from '../sample.ts';
import { contract, openViews, type StateFixture } from './contract.ts';

async function makeFixture(): Promise<StateFixture> {
  const path = join(await makeFolder(), '.callsheet/state.json');
  const views = openViews();
  return {
    open({ effects = {}, fault } = {}) {
      const disk = steppedDisk(async ({ number }, part) => {
        const found = await fault?.(number);
        if (found === undefined) return;
        if (found.done) await part();
        throw found.error();
      });
      return views.add(
        openFileStore(path, {
          ...effects,
          disk: fault === undefined ? realDisk : disk,
        }),
      );
    },
    async dump() {
      const names = await readdir(join(path, '..'), { recursive: true, withFileTypes: true });
      const files = names.filter((one) => one.isFile() && !/lock/.test(one.parentPath));
      const texts = files.map((one) => readFile(join(one.parentPath, one.name), 'utf8'));
      return (await Promise.all(texts)).join('\n');
    },
    async spoil(how) {
      const text = await readFile(path, 'utf8');
      await writeFile(path, spoilt(text, how));
    },
    place: { file: path },
    env: {},
    close: views.close,
    credentials: [],
  };
}

function spoilt(text: string, how: 'damaged' | 'newer'): string {
  if (how === 'damaged')
    return text.replace('"serial":1', '"serial": 1 ').replace('Desk a1', 'Desk');
  const { checksum: _, ...state } = JSON.parse(text);
  return sealed({ ...state, version: 99 });
}

contract(makeFixture, undefined, 7);
