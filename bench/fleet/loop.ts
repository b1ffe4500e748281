// The floor of `plan` and `apply`: asks for what `loop.json` lists, as many at once as Callsheet does, and parses
// each answer. Nothing is looked at and nothing is kept.
import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import type { Asked, Chain } from './chains.ts';
import { CONCURRENCY } from './concurrency.ts';

const {
  CALLSHEET_BASE_URL: base = '',
  CALLSHEET_CLIENT_ID: id,
  CALLSHEET_CLIENT_SECRET: secret,
} = process.env;
const chains: readonly Chain[] = JSON.parse(readFileSync('loop.json', 'utf8'));

const pool = new Pool(base, { connections: CONCURRENCY });
const json = { accept: 'application/json', 'content-type': 'application/json' };

async function ask({ method, path, body }: Asked, headers: Record<string, string>) {
  const answer = await pool.request({
    method: method as 'GET',
    path,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.body.text();
  if (answer.statusCode > 299) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
  return JSON.parse(text);
}

const grant = {
  client_id: id,
  client_secret: secret,
  audience: `${base}/`,
  grant_type: 'client_credentials',
};
const login = { method: 'POST', path: '/oauth/token', body: JSON.stringify(grant) };
const { access_token: token } = await ask(login, json);
const reading = { authorization: `Bearer ${token}`, accept: json.accept };
const writing = { ...json, ...reading };

/** The least number of the entries of a history. */
function findOldest(answer: unknown): number | undefined {
  const text = JSON.stringify(answer);
  const ids = [...text.matchAll(/"id":(\d+)/g)].map(([, found]) => Number(found));
  return ids.length === 0 ? undefined : Math.min(...ids);
}

let begun = 0;
let asked = 0;
async function work(): Promise<void> {
  for (let chain = chains[begun]; chain !== undefined; chain = chains[begun]) {
    begun += 1;
    let oldest: number | undefined;
    for (const one of chain) {
      // An agent of this platform has fewer entries than that of the one whose requests these were.
      const path = one.path.replace(/history\/\d+\/revert$/, (as) =>
        oldest === undefined ? as : `history/${oldest}/revert`,
      );
      const answer = await ask({ ...one, path }, one.body === undefined ? reading : writing);
      if (/\/history(?:\?|$)/.test(path)) oldest = findOldest(answer);
      asked += 1;
    }
  }
}
await Promise.all(Array.from({ length: CONCURRENCY }, work));
await pool.close();
console.log(`${asked} requests`);
