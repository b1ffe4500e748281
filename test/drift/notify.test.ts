import { webcrypto } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import schema from '../../schemas/notification.schema.json' with { type: 'json' };
import planSchema from '../../schemas/plan.schema.json' with { type: 'json' };
import { type DriftCommandFlags, drift } from '../../src/cli/commands/drift.ts';
import { checkHook } from '../../src/console/notify.ts';
import type { Timeouts } from '../../src/platform/limits.ts';
import type { Pause } from '../../src/platform/rate.ts';
import type { DriftNotification } from '../../src/render/notification.ts';
import { openStage, type Stage, VIEWS } from '../apply/stage.ts';
import { readPage } from '../docs/markdown.ts';
import { agentNamed } from '../e2e/clinic.ts';
import { longRows, longTest } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';

/** The secret part of the receiver's address. */
const SECRET = 'canary-hook-7be1f0';

type Received = {
  readonly headers: IncomingHttpHeaders;
  readonly url: string;
  readonly body: string;
};

/** What the receiver does with each try; the last for all that follow. Undefined: it never answers. */
type Manner = { readonly status: number; readonly headers?: Record<string, string> } | undefined;

async function openReceiver(...manners: readonly Manner[]) {
  const received: Received[] = [];
  const server = createServer(async (request, answer) => {
    const manner = manners[Math.min(received.length, manners.length - 1)];
    received.push({
      headers: request.headers,
      url: request.url ?? '',
      body: await text(request),
    });
    if (manner !== undefined) answer.writeHead(manner.status, manner.headers).end('no');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { received, url: `http://127.0.0.1:${port}/services/${SECRET}?k=${SECRET}` };
}

async function openDrifted(): Promise<Stage> {
  const stage = await openStage();
  onTestFinished(async () => {
    await stage.close();
  });
  await stage.apply();
  return stage;
}

const desk = ({ sim }: Stage): string => agentNamed(sim).id;

/** Pauses that take no time, and are written down. */
function noPauses() {
  const slept: number[] = [];
  const pause: Pause = {
    sleep: async (milliseconds) => void slept.push(milliseconds),
    random: () => 1,
  };
  return { slept, pause };
}

type Look = {
  readonly flags?: Partial<DriftCommandFlags>;
  readonly env?: Readonly<Record<string, string>>;
  readonly exit?: number;
  readonly timeouts?: Partial<Timeouts>;
};

/** Looks for drift. The receiver's address must be in nothing that is said. */
async function look(stage: Stage, { flags = {}, env = {}, exit = 0, timeouts }: Look = {}) {
  const { slept, pause } = noPauses();
  const said = await stage.run(
    (to) =>
      drift(
        { dir: stage.folder, format: 'json', ...flags },
        { ...to, pause, ...(timeouts ? { timeouts } : {}) },
      ),
    { env, exit },
  );
  expect(said.out + said.err).not.toContain(SECRET);
  return { ...said, slept };
}

const isNotification = new Ajv2020({ validateFormats: false }).compile<DriftNotification>(schema);

function readNotification({ body }: Received): DriftNotification {
  const document = JSON.parse(body);
  expect(isNotification(document), JSON.stringify(isNotification.errors)).toBe(true);
  return document;
}

describe('with CALLSHEET_NOTIFY_SECRET', () => {
  const env = { CALLSHEET_NOTIFY_SECRET: 'canary-notify-secret-5c1d' };
  const { CALLSHEET_NOTIFY_SECRET: secret } = env;
  const { subtle } = webcrypto;
  const signatureIn = ({ headers }: Received) => String(headers['x-hub-signature-256']);

  async function postSigned() {
    const stage = await openDrifted();
    stage.sim.edit(desk(stage), { greeting_message: 'Édité “là”.' });
    const { received, url } = await openReceiver({ status: 500 }, { status: 204 });
    const { out, err } = await look(stage, { flags: { notify: url }, env });
    const [first, second, ...others] = received;
    if (first === undefined || second === undefined) throw new Error('nothing was posted twice');
    expect(others).toEqual([]);
    expect(out + err + first.body + JSON.stringify(first.headers)).not.toContain(secret);
    return { first, second };
  }

  test('every try has a signature that another implementation verifies', async () => {
    const { first, second } = await postSigned();
    const how = { name: 'HMAC', hash: 'SHA-256' };
    const key = await subtle.importKey('raw', Buffer.from(secret), how, false, ['verify']);
    const [, hex = ''] = /^sha256=([0-9a-f]{64})$/.exec(signatureIn(first)) ?? [];
    const { body } = first;
    expect(await subtle.verify(how, key, Buffer.from(hex, 'hex'), Buffer.from(body))).toBe(true);
    expect(second).toEqual(first);
  });

  test('the receiver of the page takes what was sent, and nothing else', async () => {
    const page = await readFile(
      join(import.meta.dirname, '../../docs/reference/monitoring.md'),
      'utf8',
    );
    const [receiver] = readPage(page).fences.filter(({ language }) => language === 'js');
    const file = join(temporaryFolder(), 'receiver.mjs');
    await writeFile(file, receiver?.text ?? '');
    const { isGenuine } = await import(file);
    const { headers, body } = (await postSigned()).first;
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 6 * 60_000);
    expect(isGenuine(body, headers, secret)).toBe(false);
    later.mockRestore();
    expect(isGenuine(body, headers, secret)).toBe(true);
    expect(isGenuine(body, {}, secret)).toBe(false);
    expect(isGenuine(body, headers, `${secret}x`)).toBe(false);
    expect(isGenuine(body.replace('"omitted":0', '"omitted":1'), headers, secret)).toBe(false);
  });

  longTest('the webhook of watch takes it as it takes one of GitHub', async () => {
    const { headers, body } = (await postSigned()).first;
    const request = Object.assign(Readable.from([Buffer.from(body)]), { headers });
    expect(await checkHook(request, secret)).toMatchObject({ status: 202 });
  });
});

test('a notification is unsigned without a secret', async () => {
  const stage = await openDrifted();
  stage.sim.edit(desk(stage), { greeting_message: 'Edited.' });
  const { received, url } = await openReceiver({ status: 204 });
  await look(stage, { flags: { notify: url } });
  expect(received.map(({ headers }) => headers['x-hub-signature-256'])).toEqual([undefined]);
});

test('what is not there without a state is drift, in every format and in the notification', async () => {
  const stage = await openDrifted();
  await stage.forget();
  for (const one of [stage.sim.store.agents, stage.sim.store.retryPolicies]) one.clear();
  const { received, url } = await openReceiver({ status: 204 });
  const told = async (format: string) =>
    look(stage, { flags: { format, detailedExitcode: true }, exit: 2 });
  const { err } = await look(stage, { flags: { notify: url, detailedExitcode: true }, exit: 2 });
  expect(err).toMatch(/^There is no state at \S+state\.json: a first run, or another place/);
  expect(readNotification(received[0] as Received)).toMatchObject({
    is_drifted: true,
    summary: { drifted: 3, gone: 3 },
  });
  expect(JSON.parse((await told('json')).out).changes).toHaveLength(3);
  for (const format of ['text', 'markdown'] as const) {
    const { out } = await told(format);
    expect(out).toContain('3 resources not as in the files. There is no state');
    expect(out).toMatch(/not on the platform; without a\s+state nothing tells whether it ever was/);
  }
  for (const format of VIEWS)
    expect((await told(format)).out).toContain('not on the platform; without a state');
});

test('what drifted is posted once, as the schema has it, and the result is as without', async () => {
  const stage = await openDrifted();
  stage.sim.edit(desk(stage), { greeting_message: 'Edited.' }, 'user:maria');
  const { received, url } = await openReceiver({ status: 204 });
  const { out, err } = await look(stage, {
    flags: { notify: true, detailedExitcode: true },
    env: {
      CALLSHEET_NOTIFY_URL: url,
      CI_JOB_URL: 'https://ci.example.test/1',
      CI_COMMIT_SHA: '5f1c',
    },
    exit: 2,
  });
  expect(JSON.parse(out).changes).toHaveLength(1);
  expect(err).toContain('The notification was delivered.');
  expect(received).toHaveLength(1);
  const [first] = received;
  const sent = readNotification(first as Received);
  expect(first?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-callsheet-delivery': sent.id,
  });
  expect(sent).toMatchObject({
    is_drifted: true,
    text: 'Drift: 1 resource changed outside Callsheet\nagent.desk: 1 setting\nhttps://ci.example.test/1',
    commit: '5f1c',
    digest: JSON.parse(out).digest,
    summary: { compared: 8, drifted: 1, gone: 0, fields: { entry: 1, unknown: 0 } },
    omitted: 0,
    changes: [
      {
        address: 'agent.desk',
        organization: 'harbor',
        fields: [
          {
            path: 'greeting_message',
            before: 'Harbor Dental, how can I help?',
            after: 'Edited.',
            attribution: { certainty: 'entry' },
          },
        ],
        edits: [{ actor: 'user:maria', source: 'dashboard' }],
      },
    ],
  });
});

test('no secret is posted, wherever somebody put one', async () => {
  const stage = await openDrifted();
  const tools = [
    {
      type: 'webhook',
      name: 'crm_lookup',
      condition: 'during_call',
      method: 'GET',
      url: 'https://crm.example.test/patients',
      headers: [{ key: 'X-Api-Key', value: 'canary-other-92d1' }],
    },
  ];
  stage.sim.edit(desk(stage), { extensions: { tools } });
  const { received, url } = await openReceiver({ status: 200 });
  await look(stage, { flags: { notify: url } });
  const [body = ''] = received.map((one) => one.body);
  expect(body).toContain('crm_lookup');
  expect(body).not.toContain('canary-');
  expect(stage.leaks([{ by: 'a notification', text: body }])).toEqual([]);
});

test('nothing is posted without drift, unless that is asked for', async () => {
  const stage = await openDrifted();
  const { received, url } = await openReceiver({ status: 200 });
  await look(stage, { flags: { notify: url } });
  expect(received).toEqual([]);
  await look(stage, { flags: { notify: url, notifyAlways: true } });
  expect(received.map(readNotification)).toMatchObject([
    { is_drifted: false, text: 'No drift. Nothing changed outside Callsheet.', changes: [] },
  ]);
});

test('a long value is cut, and what does not fit is counted', async () => {
  const stage = await openDrifted();
  stage.sim.edit(desk(stage), { system_prompt: 'x'.repeat(3000) });
  const { received, url } = await openReceiver({ status: 200 });
  await look(stage, { flags: { notify: url } });
  const [field] = received.map(readNotification)[0]?.changes[0]?.fields ?? [];
  expect(field).toMatchObject({ path: 'system_prompt', is_cut: true });
  expect(field?.after).toBe(`${'x'.repeat(500)}…`);
});

describe('a notification that fails is an error beside the result', () => {
  const rows: readonly {
    readonly what: string;
    readonly manners: readonly Manner[];
    readonly tries: number;
    readonly slept?: readonly number[];
    readonly says?: string;
  }[] = [
    {
      what: 'a 500 that passes',
      manners: [{ status: 500 }, { status: 200 }],
      tries: 2,
      slept: [1000],
    },
    {
      what: 'a 503 for good',
      manners: [{ status: 503 }],
      tries: 3,
      slept: [1000, 4000],
      says: 'the receiver answered 503, in 3 tries',
    },
    {
      what: 'a 429 with a time',
      manners: [{ status: 429, headers: { 'retry-after': '9' } }, { status: 202 }],
      tries: 2,
      slept: [9000],
    },
    {
      what: 'a 429 that asks for an hour',
      manners: [{ status: 429, headers: { 'retry-after': '3600' } }],
      tries: 1,
      says: 'the receiver answered 429',
    },
    {
      what: 'a 404',
      manners: [{ status: 404 }],
      tries: 1,
      says: 'the receiver answered 404',
    },
    {
      what: 'a redirect',
      manners: [{ status: 302, headers: { location: 'https://elsewhere.example.test' } }],
      tries: 1,
      says: 'the receiver answered 302, a redirect, which is not followed',
    },
    {
      what: 'a receiver that never answers',
      manners: [undefined],
      tries: 3,
      says: 'in 3 tries',
    },
  ];
  // In short: one that passes, one for good, and what never answers.
  const short = ['a 429 with a time', 'a 404', 'a redirect', 'a receiver that never answers'];
  test.each(longRows(rows, ({ what }) => short.includes(what)))(
    '$what',
    async ({ manners, tries, slept, says }) => {
      const stage = await openDrifted();
      stage.sim.edit(desk(stage), { greeting_message: 'Edited.' });
      const { received, url } = await openReceiver(...manners);
      const said = await look(stage, {
        flags: { notify: url, detailedExitcode: true },
        exit: says === undefined ? 2 : 1,
        ...(manners[0] === undefined ? { timeouts: { headers: 1000 } } : {}),
      });
      expect(JSON.parse(said.out).changes).toHaveLength(1);
      expect(received).toHaveLength(tries);
      expect(new Set(received.map(({ headers }) => headers['x-callsheet-delivery'])).size).toBe(1);
      if (slept !== undefined) expect(said.slept).toEqual(slept);
      if (says === undefined) return;
      expect(said.err).toContain('the notification was not delivered: ');
      expect(said.err).toContain(says);
      expect(said.err).toContain('The result above is not affected. Check the address of --notify');
    },
  );

  longTest('nobody listens there', async () => {
    const stage = await openDrifted();
    stage.sim.edit(desk(stage), { greeting_message: 'Edited.' });
    const { err, out } = await look(stage, {
      flags: { notify: `http://127.0.0.1:1/${SECRET}` },
      exit: 1,
    });
    expect(err).toContain('not delivered: nothing listens at its port, in 3 tries');
    expect(JSON.parse(out).changes).toHaveLength(1);
  });
});

describe('an address that cannot be used is refused before anything is read', () => {
  test.each([
    [{ notify: true }, {}, '--notify has no address, and CALLSHEET_NOTIFY_URL is not set'],
    [{ notifyAlways: true }, {}, '--notify-always needs --notify'],
    [
      { notify: 'https://hooks.example.test' },
      { CALLSHEET_NOTIFY_SECRET: SECRET.slice(0, 15) },
      'CALLSHEET_NOTIFY_SECRET has less than 16 characters',
    ],
    [
      { notify: `http://hooks.example.test/${SECRET}` },
      {},
      'the address of --notify is plain http',
    ],
    [{ notify: `${SECRET}@hooks` }, {}, 'the address of --notify is not an http(s) address'],
    [
      { notify: true },
      { CALLSHEET_NOTIFY_URL: `ftp://${SECRET}` },
      'CALLSHEET_NOTIFY_URL is not an http(s) address',
    ],
  ] as const)('%j %j', async (flags, env, says) => {
    const stage = await openStage();
    onTestFinished(stage.close);
    const { err, out } = await look(stage, { flags, env, exit: 1 });
    expect(err).toContain(says);
    expect(out).toBe('');
    expect(stage.sim.requests).toEqual([]);
  });
});

test('the notification describes edits and attributions as the plan does', () => {
  expect(schema.$defs.attribution).toEqual(planSchema.$defs.attribution);
  expect(schema.$defs.edit).toEqual(planSchema.$defs.edit);
});
