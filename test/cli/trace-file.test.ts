import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openTraceFile } from '../../src/cli/trace-file.ts';
import type { Terminal } from '../../src/console/terminal.ts';
import type { TraceEntry } from '../../src/platform/operation.ts';
import { temporaryFolder } from '../temporary.ts';

const said: string[] = [];
const terminal = { err: (text: string) => said.push(text) } as unknown as Terminal;

async function folder(): Promise<string> {
  const path = temporaryFolder();
  return path;
}

const entry = { operation: 'getMe', attempt: 1 } as unknown as TraceEntry;

test('a trace is for its owner alone, a line an entry, and goes on after what is there', async () => {
  const path = join(await folder(), 'http.jsonl');
  await writeFile(path, 'before\n', { mode: 0o644 });
  const file = openTraceFile(path, terminal);
  file.write(entry);
  file.write(entry);
  expect(await readFile(path, 'utf8')).toBe(
    'before\n{"operation":"getMe","attempt":1}\n{"operation":"getMe","attempt":1}\n',
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  file.close();
});

test('a new trace is for its owner alone from its first byte', async () => {
  const path = join(await folder(), 'http.jsonl');
  openTraceFile(path, terminal).close();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test.each([
  {
    what: 'a link',
    make: async (path: string) => {
      await writeFile(`${path}.target`, 'kept');
      await symlink(`${path}.target`, path);
    },
    says: 'it is a link',
  },
  {
    what: 'a link to nowhere',
    make: (path: string) => symlink('nowhere', path),
    says: 'it is a link',
  },
  { what: 'a folder', make: (path: string) => mkdir(path), says: 'it is a folder' },
])('$what is refused', async ({ make, says }) => {
  const path = join(await folder(), 'http.jsonl');
  await make(path);
  expect(() => openTraceFile(path, terminal)).toThrow(
    `--trace-http ${path} cannot be written: ${says}`,
  );
  await expect(readFile(`${path}.target`, 'utf8').catch(() => 'kept')).resolves.toBe('kept');
});

test('what is no file is refused, and a folder that is not there', async () => {
  expect(() => openTraceFile('/dev/null', terminal)).toThrow(/it is not a file$/);
  const path = join(await folder(), 'no', 'http.jsonl');
  expect(() => openTraceFile(path, terminal)).toThrow(/there is no such file or folder/);
});

test('a disk that fails later ends the trace with one warning', async () => {
  const file = openTraceFile(join(await folder(), 'http.jsonl'), terminal);
  file.close();
  said.length = 0;
  file.write(entry);
  file.write(entry);
  expect(said).toEqual([expect.stringMatching(/^Warning: --trace-http .* ends here: EBADF/)]);
});

test('a disk that fails as the trace is closed ends it with a warning, too', async () => {
  const file = openTraceFile(join(await folder(), 'http.jsonl'), terminal);
  file.close();
  said.length = 0;
  file.close();
  expect(said).toEqual([expect.stringMatching(/^Warning: --trace-http .* ends here: EBADF/)]);
});
