// The least that a script does: sends the writes of `loop.json`, one after the other, and nothing else. It knows what
// there is and what to write, and proves nothing. After a 429 it waits as long as `Retry-After` says.
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import type { Chain } from './chains.ts';

const {
  CALLSHEET_BASE_URL: base = '',
  CALLSHEET_CLIENT_ID: id,
  CALLSHEET_CLIENT_SECRET: secret,
} = process.env;
const chains: readonly Chain[] = JSON.parse(readFileSync('loop.json', 'utf8'));
const pool = new Pool(base, { connections: 1 });
const headers = { accept: 'application/json', 'content-type': 'application/json' };
let asked = 0;

async function send(method: string, path: string, body: string, token?: string) {
  for (;;) {
    const {
      statusCode,
      body: answer,
      headers: told,
    } = await pool.request({
      method: method as 'GET',
      path,
      headers: token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` },
      body,
    });
    const text = await answer.text();
    asked += 1;
    if (statusCode < 300) return JSON.parse(text);
    if (statusCode !== 429) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
    await sleep(Number(told['retry-after'] ?? 1) * 1000);
  }
}

const grant = {
  client_id: id,
  client_secret: secret,
  audience: `${base}/`,
  grant_type: 'client_credentials',
};
const { access_token: token } = await send('POST', '/oauth/token', JSON.stringify(grant));
// A refused request was sent again, so the same write may be there more than once.
const writes = new Map(
  chains
    .flat()
    .flatMap(({ method, path, body }) =>
      body === undefined ? [] : [[`${method} ${path} ${body}`, { method, path, body }] as const],
    ),
);
for (const { method, path, body } of writes.values()) await send(method, path, body, token);
await pool.close();
console.log(`${asked} requests`);
