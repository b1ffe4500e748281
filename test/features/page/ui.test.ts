import { request } from 'node:http';
import { afterAll, expect } from 'vitest';
import type { Context } from '../../../src/console/context.ts';
import { onTerminal } from '../../../src/console/events.ts';
import { features } from '../../../src/features/index.ts';
import { ui } from '../../../src/features/page/ui.ts';
import { closeChromium, openChromium } from '../../chromium.ts';
import { CANARIES, FINGERPRINT_KEY } from '../../e2e/clinic.ts';
import { applied, longApplied, scenario, type World } from '../../e2e/harness.ts';
import { axeFindings } from './axe.ts';

/** `callsheet ui`: what it serves, to whom, and what a browser shows of it. */

afterAll(closeChromium);

/** Starts it in this process, so that its address can be read. */
async function startUi(world: World, planFile?: string) {
  const stop = new AbortController();
  const said = Promise.withResolvers<string>();
  const render = { width: 80, color: false, verbose: false };
  const context: Context = {
    ...onTerminal({
      out: said.resolve,
      err: () => undefined,
      render,
      renderErr: render,
      wrapsErr: false,
      canAsk: false,
      ask: () => Promise.reject(new Error('nobody is asked')),
    }),
    features,
    env: {
      ...CANARIES,
      CALLSHEET_FINGERPRINT_KEY: FINGERPRINT_KEY,
      CALLSHEET_BASE_URL: world.sim.url,
      CALLSHEET_CLIENT_ID: world.sim.clientId,
      CALLSHEET_CLIENT_SECRET: world.sim.clientSecret,
    },
    now: () => new Date(),
    stop: stop.signal,
    version: '0.0.0',
  };
  const ended = ui(planFile, { dir: world.folder, port: 0 }, context);
  ended.catch(said.reject);
  const url = await said.promise;
  return {
    url,
    close: async () => {
      stop.abort();
      return ended;
    },
  };
}

type Asked = {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Asks as any program could, also with a host of its own choosing. */
function ask(url: string, { method = 'GET', path, headers = {} }: Asked) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const target = new URL(url);
    const options = {
      method,
      headers,
      host: target.hostname,
      port: target.port,
      path: path ?? target.pathname,
    };
    request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    })
      .on('error', reject)
      .end();
  });
}

applied('only this machine, only with the token, and only to read', async (world) => {
  const { url, close } = await startUi(world);
  const { pathname, host } = new URL(url);
  const another = pathname.replace(/.(?=.$)/, (last) => (last === 'x' ? 'y' : 'x'));
  const refused: readonly (readonly [string, Asked, number])[] = [
    ['another name for this machine', { headers: { host: `evil.example.test:80` } }, 421],
    ['the right name at another port', { headers: { host: '127.0.0.1:1' } }, 421],
    ['a request of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    ['an origin', { headers: { origin: 'http://evil.example.test' } }, 403],
    ['a write', { method: 'POST' }, 405],
    ['a question about writes', { method: 'OPTIONS' }, 405],
    ['no token', { path: '/' }, 404],
    ['no token before a document', { path: '/fleet.json' }, 404],
    ['another token', { path: `${another}fleet.json` }, 404],
    ['what there is not', { path: `${pathname}../../etc/passwd` }, 404],
    ['a log of what is no address', { path: `${pathname}log/%zz.json` }, 502],
    ['a run that leads elsewhere', { path: `${pathname}runs/..%2f..%2fstate.json` }, 404],
  ];
  for (const [what, asked, status] of refused) {
    const answer = await ask(url, asked);
    expect([what, answer.status]).toEqual([what, status]);
    expect(answer.text).not.toContain('agent.');
  }
  const page = await fetch(url);
  expect(page.status).toBe(200);
  expect(page.headers.get('access-control-allow-origin')).toBeNull();
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect((await ask(url, { headers: { host } })).status).toBe(200);
  expect(await close()).toBe(0);
});

applied('serves the documents that the commands print', async (world) => {
  const { out } = await world.run(['state', 'list', '--format', 'json']);
  const { out: runs } = await world.run(['runs', '--format', 'json']);
  const { url, close } = await startUi(world);
  expect(await (await fetch(`${url}fleet.json`)).json()).toEqual(JSON.parse(out));
  expect(await (await fetch(`${url}runs.json`)).json()).toEqual(JSON.parse(runs));
  await world.edit('agents.yaml', 'name: Front desk', 'name: Reception');
  await world.apply();
  const { out: log } = await world.run(['log', 'agent.desk', '--format', 'json']);
  const served = await (await fetch(`${url}log/agent.desk.json`)).text();
  expect(JSON.parse(served)).toEqual({ ...JSON.parse(log), since: expect.any(String) });
  for (const secret of Object.values(CANARIES)) expect(served).not.toContain(secret);
  const never = await fetch(`${url}log/${encodeURIComponent('agent.clinic["no such/row"]')}.json`);
  expect([never.status, await never.text()]).toEqual([502, expect.stringContaining('no such/row')]);
  const lost = await fetch(`${url}runs/no-such-run.json`);
  expect(lost.status).toBe(502);
  expect(await lost.text()).toContain('no-such-run is not recorded');
  expect(world.writes().filter(({ method }) => method !== 'POST' && method !== 'PUT')).toEqual([]);
  expect(await close()).toBe(0);
});

applied('a receipt that cannot be read hides nothing of the fleet', async (world) => {
  const [made] = JSON.parse((await world.run(['runs', '--format', 'json'])).out).runs;
  await world.edit('agents.yaml', 'name: Front desk', 'name: Reception');
  await world.apply();
  await world.write(`.callsheet/runs/${made.run}.jsonl`, 'not\na\njournal\n');
  const { url, close } = await startUi(world);
  const facts = await (await fetch(`${url}facts.json`)).json();
  expect(facts).toMatchObject({ 'agent.desk': { organization: 'harbor' } });
  expect(await close()).toBe(0);
});

longApplied('says what it knows of the fleet, and what a run changed', async (world) => {
  const [made] = JSON.parse((await world.run(['runs', '--format', 'json'])).out).runs;
  await world.edit('agents.yaml', 'name: Front desk', 'name: Reception');
  expect((await world.run(['apply', '--auto-approve'])).exit).toBe(0);
  const [renamed] = JSON.parse((await world.run(['runs', '--format', 'json'])).out).runs;
  const { url, close } = await startUi(world);
  const facts = JSON.parse(await (await fetch(`${url}facts.json`)).text());
  expect(facts['agent.desk']).toMatchObject({ organization: 'harbor', run: { id: renamed.run } });
  expect(facts['retry_policy.gentle']).toMatchObject({ status: null, run: { id: made.run } });
  const values = await (await fetch(`${url}values/${renamed.run}.json`)).json();
  expect(values).toEqual({
    'agent.desk': [
      { path: 'name', before: { value: 'Front desk' }, after: { value: 'Reception' } },
    ],
  });
  const first = await (await fetch(`${url}values/${made.run}.json`)).text();
  for (const secret of Object.values(CANARIES)) expect(first).not.toContain(secret);

  const page = await (await openChromium()).newPage();
  await page.goto(url);
  const row = page.locator('tbody tr').filter({ hasText: 'agent.desk' });
  await row.getByText(renamed.run).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await axeFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Runs' }).click();
  await page.getByRole('button', { name: renamed.run }).click();
  await page.getByText('Before and after').click();
  await page.locator('.field del').getByText('Front desk').waitFor();
  expect(await page.locator('.field ins').innerText()).toContain('Reception');
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
  expect(await close()).toBe(0);
});

scenario('shows a run while it is at work, and its receipt afterwards', async (world) => {
  const evil = '<img src=x onerror=globalThis.pwned=1>\\u202e';
  await world.edit('agents.yaml', 'name: Front desk', `name: "${evil}"`);
  const { url, close } = await startUi(world);
  const page = await (await openChromium()).newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(url);
  await page.getByText('No run at work').waitFor();
  await page.getByText('The first apply fills it').waitFor();

  const gate = await world.gate();
  const policy = gate.hold('answer', { method: 'POST', path: /retry-policies/ });
  const running = world.start(['apply', '--auto-approve', '--concurrency', '1']);
  await policy.reached;
  await page.locator('.now').getByText('retry_policy.gentle').first().waitFor();
  expect(await page.locator('.live').innerText()).toBe('apply at work');
  expect(await axeFindings(page)).toEqual([]);
  policy.release();
  expect((await running.ended).exit).toBe(0);

  await page.getByText('No run at work').waitFor();
  await page.locator('tbody').getByText('agent.desk').first().waitFor();
  expect(await page.locator('tbody').innerText()).toContain('<img src=x onerror');
  expect(await page.locator('tbody').innerText()).toContain('\\u{202e}');
  expect(await page.locator('img').count()).toBe(0);
  await page.getByRole('button', { name: 'Runs' }).click();
  await page.locator('tbody button').first().click();
  await page.locator('.ledger').first().waitFor();
  expect(await page.locator('.ledger').allInnerTexts()).toContain('✓ done');
  expect(await axeFindings(page)).toEqual([]);
  expect(errors).toEqual([]);
  // It ends although a browser still listens.
  expect(await close()).toBe(0);
  await page.close();
});

applied('shows which paragraph of a prompt is edited most', async (world) => {
  // A receipt has a digest of a text as long as this.
  const prompt = (rule: string) =>
    `You answer the phone.\n\n${rule}\n\n${'Be kind. '.repeat(30)}\n`;
  for (const rule of ['Never quote a price.', 'You may quote a price.', 'Quote no price.']) {
    await world.write('prompts/desk.md', prompt(rule));
    await world.run(['apply', '--auto-approve']);
  }
  const { url, close } = await startUi(world);
  const page = await (await openChromium()).newPage();
  await page.goto(url);
  await page.getByRole('button', { name: 'agent.desk' }).click();
  await page.locator('.worst').waitFor();
  expect(await page.locator('.worst').innerText()).toContain('in 3 of 3 edits: “Quote no price.”');
  expect(await page.locator('.cells button').last().innerText()).toBe('4');
  expect(await axeFindings(page)).toEqual([]);
  await page.close();
  expect(await close()).toBe(0);
});

applied('shows drift when it is asked for, and a plan that it was given', async (world) => {
  await world.run(['plan', '--out', 'saved.plan']);
  const { url, close } = await startUi(world, `${world.folder}/saved.plan`);
  const page = await (await openChromium()).newPage();
  await page.goto(url);
  await page.getByRole('heading', { name: /No changes/ }).waitFor();
  expect(await axeFindings(page)).toEqual([]);
  const { length } = world.sim.requests;
  await page.getByRole('button', { name: 'Drift' }).click();
  expect(world.sim.requests).toHaveLength(length);
  await page.getByRole('button', { name: 'Look for drift' }).click();
  await page.locator('.top h1, .note').first().waitFor();
  expect(await page.locator('h1').innerText()).toContain('No drift');
  expect(await axeFindings(page)).toEqual([]);
  const served = await (await fetch(`${url}drift.json`)).text();
  for (const secret of Object.values(CANARIES)) expect(served).not.toContain(secret);
  await page.close();
  expect(await close()).toBe(0);
});

applied('SIGINT ends it', async (world) => {
  const running = world.start(['ui']);
  await running.says(/http:\/\/127\.0\.0\.1:\d+\/[\w-]+\//);
  running.signal('SIGINT');
  const { exit, out } = await running.ended;
  expect(exit).toBe(0);
  const listening = await fetch(`${out.trim()}events`).catch(() => undefined);
  expect(listening).toBeUndefined();
});
