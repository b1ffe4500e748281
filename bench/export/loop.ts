// The floor of `export`: asks for what `loop.json` lists, eight at a time, parses each answer, and writes
// files of the sizes that it lists into a folder. Nothing is looked at and nothing is kept.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Pool } from 'undici';

const AT_ONCE = 8;
const [, , out = ''] = process.argv;
const {
  CALLSHEET_BASE_URL: base = '',
  CALLSHEET_CLIENT_ID: id,
  CALLSHEET_CLIENT_SECRET: secret,
} = process.env;
const { requests, files }: { requests: string[]; files: { path: string; size: number }[] } =
  JSON.parse(readFileSync('loop.json', 'utf8'));

const pool = new Pool(base, { connections: AT_ONCE });
const { body } = await pool.request({
  method: 'POST',
  path: '/oauth/token',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    client_id: id,
    client_secret: secret,
    audience: `${base}/`,
    grant_type: 'client_credentials',
  }),
});
const { access_token: token } = (await body.json()) as { access_token: string };
const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };

const folders = new Set<string>();
function write({ path, size }: { path: string; size: number }): void {
  const file = join(out, path);
  if (!folders.has(dirname(file))) mkdirSync(dirname(file), { recursive: true });
  folders.add(dirname(file));
  writeFileSync(file, Buffer.alloc(size, 'x'));
}

let asked = 0;
let written = 0;
async function work(): Promise<void> {
  while (asked < requests.length) {
    const path = requests[asked] ?? '';
    asked += 1;
    const answer = await pool.request({ method: 'GET', path, headers });
    JSON.parse(await answer.body.text());
    // Files come as the answers do.
    for (const due = (files.length * asked) / requests.length; written < due; written += 1) {
      const file = files[written];
      if (file !== undefined) write(file);
    }
  }
}
await Promise.all(Array.from({ length: AT_ONCE }, work));
await pool.close();
console.log(`${asked} requests`);
