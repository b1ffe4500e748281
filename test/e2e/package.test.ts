import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { startSimulator } from '../../src/simulator/index.ts';
import { AUTHORITY, startHttps } from '../platform/secure.ts';
import './build.ts';
import { TOPICS } from '../../src/cli/topics.ts';
import { longTest } from '../long.ts';
import { temporaryFolder } from '../temporary.ts';

const root = dirname(dirname(import.meta.dirname));
const run = promisify(execFile);

let home: string;
/** Where the tarball is installed. */
let place: string;

/** Runs the installed command in a folder. */
function callsheet(args: readonly string[], cwd = place) {
  const bin = join(place, 'node_modules', '.bin', 'callsheet');
  return run(bin, [...args], { cwd, env: { PATH: process.env.PATH } });
}

beforeAll(async () => {
  home = temporaryFolder();
  place = join(home, 'place');
  await cp(join(root, 'examples', 'quickstart'), place, { recursive: true });
  await writeFile(join(place, 'package.json'), '{ "private": true }');
  // The bin that the other tests ran, not one that is built meanwhile.
  const packed = join(home, 'packed');
  const beside = ['schemas', 'docs', 'examples', 'README.md', 'LICENSE', 'CHANGELOG.md'];
  for (const name of ['package.json', ...beside])
    await cp(join(root, name), join(packed, name), { recursive: true });
  await cp(dirname(inject('bin')), join(packed, 'dist'), { recursive: true });
  const env = { PATH: process.env.PATH, HOME: home, NODE_COMPILE_CACHE: inject('compiled') };
  await run('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: packed, env });
  const [tarball = ''] = (await readdir(home)).filter((name) => name.endsWith('.tgz'));
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(home, tarball)];
  await run('npm', install, { cwd: place, env });
});

test('the package installs into an empty folder with nothing to download, and its command works', async () => {
  const { stdout } = await callsheet(['--version']);
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\S*\n$/);
  const installed = await readdir(join(place, 'node_modules'));
  expect(installed.filter((name) => !name.startsWith('.'))).toEqual(['callsheet']);
  // npm warns of each of these, whether it would run or not.
  const { scripts } = JSON.parse(
    await readFile(join(place, 'node_modules/callsheet/package.json'), 'utf8'),
  );
  const ofInstall = ['preinstall', 'install', 'postinstall', 'prepare'];
  expect(Object.keys(scripts).filter((name) => ofInstall.includes(name))).toEqual([]);
});

test('the installed command validates the example', async () => {
  const { stdout } = await callsheet(['validate', '--var', 'base_url=http://127.0.0.1:1']);
  expect(stdout).toContain('The configuration is valid: 23 resources.');
});

test('the package holds the bundle, the schemas, the pages, the pipelines and the licences, and no sources', async () => {
  const files = await readdir(join(place, 'node_modules', 'callsheet'));
  expect(files.sort()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'docs',
    'examples',
    'package.json',
    'schemas',
  ]);
  const dist = await readdir(join(place, 'node_modules', 'callsheet', 'dist'));
  expect(dist).toContain('THIRD-PARTY-LICENSES.md');
  const examples = await readdir(join(place, 'node_modules', 'callsheet', 'examples'));
  expect(examples.sort()).toEqual(['ci', 'prometheus']);
});

test('the installed command shows the pages that came with it, for users and no others', async () => {
  const { stdout } = await callsheet(['help', 'settings']);
  expect(stdout).toContain('# Settings');
  const pages = await readdir(join(place, 'node_modules', 'callsheet', 'docs'));
  const own = Object.keys(TOPICS).map((topic) => (topic === 'reference' ? topic : `${topic}.md`));
  expect(pages.sort()).toEqual([...own, 'README.md'].sort());
});

longTest(
  'the pipeline that it writes installs it, by the lockfile that the printed commands make, and nothing else',
  async () => {
    const repository = join(home, 'repository');
    await run('git', ['init', '--quiet', repository]);
    const env = { PATH: process.env.PATH, HOME: home, npm_config_offline: 'true' };
    const npm = (line: string, cache = 'cache') =>
      run('sh', ['-c', line], {
        cwd: repository,
        env: { ...env, npm_config_cache: join(home, cache) },
      });
    const words = ['init', '--yes', '--empty', '--ci', 'github', '--dir', 'clinic'];
    const { stdout: said } = await callsheet(words, repository);
    const [commands = ''] = /^ {2}npm pack .*\\\n.*\n {2}npm install .*$/m.exec(said) ?? [said];
    await npm(commands);
    const tool = join(repository, '.github/actions/callsheet');
    const install = `npm ci --ignore-scripts --no-audit --no-fund --prefix "${tool}"`;
    await npm(install);
    const { stdout } = await run(join(tool, 'node_modules/.bin/callsheet'), ['--version'], { env });
    const [tarball = ''] = (await readdir(tool)).filter((name) => name.endsWith('.tgz'));
    expect(tarball).toBe(`callsheet-${stdout.trim()}.tgz`);
    // Another tarball of that name, on a machine that has never seen the first.
    await writeFile(join(tool, tarball), await readFile(join(tool, 'run.mjs')));
    await expect(npm(install, 'another-cache')).rejects.toThrow('EINTEGRITY');
  },
);

/** Writes files beside the installed package and runs a program of the project there. */
async function runThere(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const folder = await mkdtemp(join(place, 'consumer-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const { stdout } = await run(process.execPath, [...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env },
  }).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });
  return stdout;
}

const HARBOR = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const DESK = '8b0e0a52-9d0f-4c53-8f3f-6a1f5f0b7a01';
const NIGHT = '8b0e0a52-9d0f-4c53-8f3f-6a1f5f0b7a02';

/** An example of the library's page, by what it exports. */
async function example(name: 'release' | 'lastCalls'): Promise<string> {
  const page = await readFile(join(root, 'docs', 'reference', 'library.md'), 'utf8');
  const blocks = [...page.matchAll(/^```ts\n([\s\S]+?)^```$/gm)].map(([, code = '']) => code);
  const code = blocks.find((block) => block.includes(`export async function ${name}(`)) ?? '';
  expect(code).not.toBe('');
  return code;
}

/** What the compiler must refuse, each line for a reason of its own. */
const MISTAKES = `import { createClient } from 'callsheet';
const client = createClient({ baseUrl: 'https://voice.example.test' });
const path = { agentId: 'a' };
const { data } = await client.call({ operation: 'getAgent', path });
export const name: string = data.name;
// @ts-expect-error The answer is typed.
export const wrong: number = data.name;
// @ts-expect-error There is no such operation.
await client.call({ operation: 'getAgnt', path });
// @ts-expect-error The path is needed.
await client.call({ operation: 'getAgent' });
// @ts-expect-error The parameter has another name.
await client.call({ operation: 'getAgent', path: { id: 'a' } });
// @ts-expect-error The end of the span is needed.
await client.call({ operation: 'getMetrics', query: { startDate: '2026-01-01' } });
// @ts-expect-error The body is needed.
await client.call({ operation: 'updateAgent', path });
// @ts-expect-error A field has another type.
await client.call({ operation: 'updateAgent', path, body: { systemPrompt: 7 } });
// @ts-expect-error There is no body.
await client.call({ operation: 'getMe', body: {} });
// @ts-expect-error It is no list.
await client.list({ operation: 'getMe' });
// @ts-expect-error Pages are followed.
await client.list({ operation: 'listAgents', query: { page: 2 } });
// @ts-expect-error A clip is a file.
await client.call({ operation: 'createCustomVoice', form: { clip: 'x', name: 'n', consent: 'true', organizationId: 'o' } });
const updated = await client.call({ operation: 'updateAgent', path, body: { name: 'n' } });
// @ts-expect-error The specification shows no answer.
export const unsure: string = updated.data.id;
export const gone: null = await client.call({ operation: 'deleteAgent', path });
`;

test.each([
  { module: 'nodenext', moduleResolution: 'nodenext' },
  { module: 'preserve', moduleResolution: 'bundler' },
])(
  'the library is typed for $moduleResolution, with nothing else installed',
  async (resolution) => {
    const compilerOptions = {
      ...resolution,
      target: 'es2024',
      lib: ['es2024'],
      types: [],
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      noEmit: true,
    };
    const files = {
      'example.ts': await example('lastCalls'),
      'stacks.ts': await example('release'),
      'mistakes.ts': MISTAKES,
      'tsconfig.json': JSON.stringify({ compilerOptions }),
    };
    await runThere(files, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')]);
  },
);

test('the example of the library runs', async () => {
  const [desk, night] = ['Front desk', 'Night desk'];
  const agent = { organization_id: HARBOR, system_prompt: 'You answer.' };
  const sim = await startSimulator({
    seed: {
      organizations: [{ id: HARBOR, name: 'Harbor Dental' }],
      agents: [
        { ...agent, id: DESK, name: desk },
        { ...agent, id: NIGHT, name: night },
      ],
      calls: ['2026-02-01T09:00:00Z', '2026-02-03T16:30:00Z'].map((call_started_at) => ({
        agent_id: DESK,
        call_started_at,
        call_duration: 60,
      })),
    },
  });
  onTestFinished(() => sim.close());
  const { url: baseUrl, clientId, clientSecret } = sim;
  const options = JSON.stringify({ baseUrl, credentials: { clientId, clientSecret } });
  const main = `import { lastCalls } from './example.ts';
    process.stdout.write(JSON.stringify([...await lastCalls(${options})]));`;
  const out = await runThere({ 'example.ts': await example('lastCalls'), 'main.ts': main }, [
    'main.ts',
  ]);
  const [[name, start] = []]: [string?, string?][] = JSON.parse(out);
  expect(name).toBe(desk);
  expect(new Date(start ?? '').toISOString()).toBe('2026-02-03T16:30:00.000Z');
  expect(JSON.parse(out)).toHaveLength(1);
});

test('the example of stacks plans, applies and undoes one', async () => {
  const sim = await startSimulator({
    seed: { organizations: [{ id: HARBOR, name: 'Harbor Dental' }] },
  });
  onTestFinished(() => sim.close());
  const stack = {
    'callsheet.yaml': `callsheet: 1\nplatform: { base_url: "${sim.url}" }\norganizations: { harbor: ${HARBOR} }\norganization: harbor\n`,
    'agents.yaml': 'agents:\n  desk: { name: Front desk, system_prompt: You answer. }\n',
  };
  const env = {
    CALLSHEET_CLIENT_ID: sim.clientId,
    CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    CALLSHEET_FINGERPRINT_KEY: 'a key of this test alone',
  };
  const main = `import { release } from './example.ts';
    const stack = { dir: '.' };
    const said = [];
    said.push(await release(stack, async () => false));
    said.push(await release(stack, async () => true).catch(({ code }) => code));
    process.stdout.write(JSON.stringify(said));`;
  const files = { ...stack, 'example.ts': await example('release'), 'main.ts': main };
  const out = await runThere(files, ['main.ts'], env);
  // What was undone is held: the same is not applied again unawares.
  expect(JSON.parse(out)).toEqual(['undone: done', 'refused']);
  expect(sim.store.agents.size).toBe(0);
});

test('the library trusts the authorities that Node was given', async () => {
  const server = await startHttps('{"account_id":"acct"}');
  const main = `import { createClient } from 'callsheet';
    const client = createClient({ baseUrl: 'https://localhost:${server.port}', credentials: { accessToken: 't' } });
    process.stdout.write((await client.call({ operation: 'getMe' })).account_id);
    await client.close();`;
  const trust = { NODE_EXTRA_CA_CERTS: AUTHORITY };
  await expect(runThere({ 'main.js': main }, ['main.js'], trust)).resolves.toBe('acct');
  await expect(runThere({ 'main.js': main }, ['main.js'])).rejects.toThrow(/is not trusted/);
});

test('importing the library does nothing and loads nothing of the command line', async () => {
  const main = `const own = () => Reflect.ownKeys(globalThis).map(String);
    const before = own();
    const library = await import('callsheet');
    const added = own().filter((name) => !before.includes(name));
    const handles = process.getActiveResourcesInfo();
    process.stdout.write(JSON.stringify({ names: Object.keys(library).sort(), added, handles }));`;
  const out = await runThere({ 'main.js': main }, ['main.js']);
  expect(JSON.parse(out)).toEqual({
    names: [
      'ApiError',
      'CallsheetError',
      'NetworkError',
      'createClient',
      'describeApiError',
      'isNotFound',
      'planStack',
      'runPlan',
      'undo',
    ],
    added: [],
    handles: expect.not.arrayContaining(['Timeout', 'TCPSocketWrap']),
  });
  const loaded = await reachable(join(place, 'node_modules', 'callsheet', 'dist'), 'index.js');
  expect(loaded.size).toBeGreaterThan(1);
  const text = [...loaded.values()].join('\n');
  expect(text).toMatch(/^\/\/.* ?src\/platform\/client\.ts/m);
  expect(text).not.toMatch(/^\/\/.* ?src\/(cli|stack|plan|apply|simulator)\//m);
  const types = join(place, 'node_modules', 'callsheet', 'dist', 'types');
  for (const file of await readdir(types, { recursive: true })) {
    if (!file.endsWith('.d.ts')) continue;
    expect(await readFile(join(types, file), 'utf8')).not.toMatch(/undici|node:|NodeJS/);
  }
});

/** The text of a file of the bundle and of all that it imports at once. */
async function reachable(dist: string, entry: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  const waiting = [join(dist, entry)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (found.has(file)) continue;
    const text = await readFile(file, 'utf8');
    found.set(file, text);
    for (const [, specifier = ''] of text.matchAll(/^import .*?"(\.[^"]+)";$/gm))
      waiting.push(join(dirname(file), specifier));
  }
  return found;
}
