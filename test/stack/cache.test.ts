// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is text here.
import { spawn } from 'node:child_process';
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Lexer } from 'yaml';
import { type Loaded, type LoadOptions, loadStack } from '../../src/stack/index.ts';
import { isTorture, longRows, runs } from '../long.ts';
import { deep } from '../state/sample.ts';
import { temporaryFolder } from '../temporary.ts';
import { BAY, type Files, folderOf, HARBOR, PDF, WAV } from './stack-folder.ts';

const KEY = { CALLSHEET_FINGERPRINT_KEY: 'a key of the team' };
const SECRET = 'canary-of-a-secret';
const FILLED = 'canary-of-a-variable';

/** A stack with everything that a value can come from. */
const FILES: Files = {
  'callsheet.yaml': `callsheet: 1
organizations: { harbor: ${HARBOR} }
organization: harbor
variables:
  city: { env: CALLSHEET_VAR_CITY, default: Alder Bay }
  token: { env: CALLSHEET_VAR_TOKEN, default: '' }
rules:
  named:
    on: agent
    schema: { $file: rules/agent.json }
    message: has another name
rollouts:
  careful:
    select: { labels: { slug: [east, west] } }
    steps: [50%, 100%]
environments:
  staging:
    patches:
      agent.desk: { greeting_message: Hello from staging }
`,
  'bases.yaml': `bases:
  common:
    agent_type: receptionist
    voice_settings: { speed: 1.05 }
`,
  'agents/desk.yaml': `agents:
  desk:
    base: common
    name: Desk
    greeting_message: Hello from \${var.city}
    system_prompt: { $file: prompts/desk.md }
    default_retry_policy_id: { $ref: retry_policy.gentle }
    integrations:
      smsProvider: { account_sid: AC0123, auth_token: { $secret: env:SMS_TOKEN }, fromNumber: "+15550100" }
    extensions:
      tools:
        - type: webhook
          name: lookup
          condition: during_call
          method: GET
          url: https://crm.example.test/c
          headers: [{ key: Authorization, value: "Bearer \${var.token}" }]
`,
  'agents/night.yaml': `agents:
  night:
    base: common
    name: Night
    greeting_message: &greeting Good night
    outbound_greeting_message: *greeting
    lifecycle: { protect: true, ignore: [greeting_message] }
`,
  'agents/clinics.yaml': `agents:
  clinic:
    for_each: { $file: data/clinics.csv }
    key: \${each.slug}
    base: common
    name: \${each.name}
    system_prompt: { $template: prompts/clinic.md, with: { place: "\${each.name}" } }
  ward:
    for_each: { $file: data/wards.yaml }
    base: common
    name: Ward \${each.key}
`,
  'policies.yaml': `retry_policies:
  gentle:
    name: Gentle
    rules: { no_answer: { delay_seconds: 900, max_attempts: 3 } }
    on_exhausted: end
knowledge_bases:
  clinic:
    id: 0d0e5a1c-1f1b-4d63-9e4e-0b7ad1c2f301
    sources:
      prices: { file: docs/prices.pdf }
custom_voices:
  harbor: { name: Harbor, clip: voices/harbor.wav, language: en, consent: true }
moved: [{ from: agent.front, to: agent.desk }]
forget: [agent.gone]
`,
  'prompts/desk.md': 'You answer the phone of Alder Bay.\n'.repeat(20),
  'prompts/clinic.md': 'You answer the phone of ${place} in ${var.city}.\n'.repeat(20),
  'data/clinics.csv': 'slug,name\neast,East\nwest,West\n',
  'data/wards.yaml': 'north: { beds: 1 }\nsouth: { beds: 2 }\n',
  'rules/agent.json': '{ "properties": { "name": { "minLength": 1 } } }\n',
  'docs/prices.pdf': Buffer.concat([PDF, Buffer.from('one')]),
  'voices/harbor.wav': WAV,
};

type Options = Partial<Omit<LoadOptions, 'dir'>>;

/** Loads with a cache, as a program that was built does. */
function load(dir: string, { env, ...options }: Options = {}): Promise<Loaded> {
  return loadStack({
    dir,
    env: { ...KEY, ...env },
    secrets: 'skip',
    program: 'this one',
    ...options,
  });
}

/** The same without a cache: run from its sources a program has none. */
function loadAnew(dir: string, { program: _, env, ...options }: Options = {}): Promise<Loaded> {
  return loadStack({ dir, env: { ...KEY, ...env }, secrets: 'skip', ...options });
}

/** Everything that somebody can ask of a loaded stack. */
function seen({ stack, diagnostics, files }: Loaded): unknown {
  if (stack === undefined) return { diagnostics, files };
  const { resources, originOf, partsOf, written, rules: _, ...rest } = stack;
  const { secrets, digest } = stack;
  return {
    ...{ diagnostics, files, secrets, digest },
    ...rest,
    resources: resources.map(({ locate, document, ...resource }) => ({
      ...resource,
      document: Object.entries(document),
      places: Object.keys(document).map((field) => [field, locate(field)]),
      origins: Object.keys(document).map((field) => originOf(resource.address, [field])),
      parts: Object.keys(document).map((field) => partsOf(resource.address, [field])),
    })),
    written: written().resources.map(({ address, document }) => [address, { ...document }]),
    masked: files.map((file) =>
      written()
        .masked(file)
        .map(({ start, end }) => [start, end]),
    ),
  };
}

async function expectAsAnew(dir: string, options: Options = {}): Promise<Loaded> {
  const loaded = await load(dir, options);
  expect(seen(loaded)).toEqual(seen(await loadAnew(dir, options)));
  return loaded;
}

const lex = vi.spyOn(Lexer.prototype, 'lex');
afterEach(() => lex.mockClear());

/** How many YAML files are parsed meanwhile, beside the JSON Schema of a rule, which is read as YAML each time. */
async function parsedIn(work: () => Promise<unknown>): Promise<number> {
  lex.mockClear();
  await work();
  return lex.mock.calls.filter(([text]) => text !== FILES['rules/agent.json']).length;
}

const cacheOf = (dir: string) => join(dir, '.callsheet/cache');
const entriesOf = (dir: string) =>
  readdirSync(cacheOf(dir)).map((name) => join(cacheOf(dir), name));

/** An entry with each of its lines changed, by somebody who has the key. */
function resealed(path: string, change: (line: string) => string): Buffer {
  const secret = KEY.CALLSHEET_FINGERPRINT_KEY;
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'callsheet cache', 32));
  const [bytes, name] = [readFileSync(path), Buffer.from(basename(path))];
  const [nonce, tag] = [bytes.subarray(0, 12), bytes.subarray(-16)];
  const opened = createDecipheriv('aes-256-gcm', key, nonce).setAAD(name).setAuthTag(tag);
  const lines = (opened.update(bytes.subarray(12, -16), undefined, 'utf8') + opened.final('utf8'))
    .split('\n')
    .map((line) => (line === '' ? '' : change(line)));
  const sealed = createCipheriv('aes-256-gcm', key, nonce).setAAD(name);
  const body = Buffer.concat([sealed.update(lines.join('\n')), sealed.final()]);
  return Buffer.concat([nonce, body, sealed.getAuthTag()]);
}

/** Another content of the same size, in a file that says that nobody touched it. */
function lie(dir: string, file: string, from: string, to: string): void {
  const path = join(dir, file);
  const { atime, mtime, size } = statSync(path);
  const before = readFileSync(path, 'latin1');
  expect(before).toContain(from);
  writeFileSync(path, before.replace(from, to), 'latin1');
  utimesSync(path, atime, mtime);
  const after = statSync(path);
  expect([after.size, after.mtimeMs]).toEqual([size, mtime.getTime()]);
}

describe('what did not change', () => {
  it('is not parsed again', async () => {
    const dir = folderOf(FILES);
    const first = await load(dir);
    expect(first.diagnostics).toEqual([]);
    let second: Loaded | undefined;
    const parsed = await parsedIn(async () => {
      second = await load(dir);
      expect(second.stack?.digest).toBe(first.stack?.digest);
    });
    expect(parsed).toBe(0);
    expect(seen(second as Loaded)).toEqual(seen(first));
  });

  it('hides what its rows put into an address', async () => {
    const written = String(FILES['agents/clinics.yaml']);
    const hook = '"https://crm.example.test/?api_key=${each.name}"';
    const dir = folderOf({
      ...FILES,
      'agents/clinics.yaml': written.replace(
        '    base: common\n    name: ${each.name}\n',
        `$&    unchecked: { hook: ${hook}, newToken: "\${each.slug}" }\n`,
      ),
    });
    await load(dir);
    const { stack } = await expectAsAnew(dir);
    const kept = stack?.resources.find(({ address }) => address === 'agent.clinic["east"]');
    expect(kept?.inClear).toEqual(['newToken']);
    const { filled } = stack?.originOf('agent.clinic["east"]', ['name']) ?? {};
    expect(filled).toMatchObject([{ expression: '${each.name}', value: '(secret)' }]);
  });

  it('is found again beside the same stack with other files, changed, made and gone', async () => {
    const dir = folderOf(FILES);
    const at = (file: string) => join(realpathSync(dir), file);
    const instead = new Map<string, string | Buffer | null>([
      [at('data/clinics.csv'), Buffer.from('slug,name\neast,East\nwest,West\nsouth,South\n')],
      [at('agents/night.yaml'), null],
      [at('agents/late.yaml'), 'agents: { late: { name: Late } }\n'],
      [at('.env'), 'agents: { hidden: { name: Hidden } }\n'],
    ]);
    const first = await load(dir);
    const other = await load(dir, { instead });
    expect(other.diagnostics).toEqual([]);
    const addresses = other.stack?.resources.map(({ address }) => address);
    expect(addresses).toContain('agent.late');
    expect(addresses).toContain('agent.clinic["south"]');
    expect(addresses).not.toContain('agent.night');
    expect(addresses).not.toContain('agent.hidden');
    let found: readonly Loaded[] = [];
    const parsed = await parsedIn(async () => {
      found = [await load(dir), await load(dir, { instead })];
    });
    expect(parsed).toBe(0);
    expect(found.map(seen)).toEqual([first, other].map(seen));
    writeFileSync(at('agents/late.yaml'), 'agents: { late: { name: Late } }\n');
    writeFileSync(at('data/clinics.csv'), 'slug,name\neast,East\nwest,West\nsouth,South\n');
    rmSync(at('agents/night.yaml'));
    expect(seen(await load(dir))).toEqual(seen(other));
  });

  it('is not parsed again where one file changed', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    lie(dir, 'agents/desk.yaml', 'name: Desk', 'name: Dusk');
    // Aliases share what they stand for, so the file that has some is parsed each time, and each table is.
    const always = ['agents/night.yaml', 'data/wards.yaml'];
    expect(await parsedIn(() => load(dir))).toBe(1 + always.length);
    await expectAsAnew(dir);
  });

  it('has rollouts of the same agents, and of others once a table says so', async () => {
    const main = String(FILES['callsheet.yaml']);
    const dir = folderOf({
      ...FILES,
      'callsheet.yaml': main.replace('slug: [east, west] }', 'on: 1 }').replace('50%, ', ''),
      'data/clinics.csv': 'slug,name,on\neast,East,1\nwest,West,0\n',
    });
    const selected = async () => (await expectAsAnew(dir)).stack?.rollouts[0]?.agents;
    await load(dir);
    expect(await parsedIn(() => load(dir))).toBe(0);
    expect(await selected()).toEqual(['agent.clinic["east"]']);
    lie(dir, 'data/clinics.csv', 'East,1\nwest,West,0', 'East,0\nwest,West,1');
    expect(await selected()).toEqual(['agent.clinic["west"]']);
  });

  it('is found again where the stack was moved', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    const other = join(temporaryFolder(), 'checkout');
    renameSync(dir, other);
    expect(await parsedIn(() => load(other))).toBe(0);
    await expectAsAnew(other);
  });

  it('is found by whoever has no credential, with a key of that person', async () => {
    const [dir, home] = [folderOf(FILES), temporaryFolder()];
    const own = { env: { CALLSHEET_FINGERPRINT_KEY: '', HOME: home } };
    await load(dir, own);
    expect(await parsedIn(() => load(dir, own))).toBe(0);
    const key = join(home, '.local/state/callsheet/cache-key');
    expect(statSync(key).mode & 0o777).toBe(0o600);
  });
});

/** Changes that are seen in the same way as another one. */
const ALIKE: readonly string[] = ['1.05', HARBOR, 'agent.front', 'fmt'];

describe('a cache that lies', () => {
  const changes = [
    ['callsheet.yaml', 'Alder Bay', 'Elder Bay'],
    ['callsheet.yaml', HARBOR, BAY],
    ['bases.yaml', '1.05', '1.15'],
    ['agents/desk.yaml', 'name: Desk', 'name: Dusk'],
    ['agents/night.yaml', 'Good night', 'Good bye..'],
    ['agents/clinics.yaml', 'name: Ward', 'name: Room'],
    ['policies.yaml', '900', '901'],
    ['policies.yaml', 'agent.front', 'agent.frond'],
    ['prompts/desk.md', 'phone', 'phase'],
    ['prompts/clinic.md', 'phone', 'phase'],
    ['data/clinics.csv', 'East\n', 'Asta\n'],
    ['data/wards.yaml', 'north', 'nerth'],
    ['rules/agent.json', '"minLength": 1', '"minLength": 9'],
    ['docs/prices.pdf', 'one', 'two'],
    ['voices/harbor.wav', 'fmt', 'fmT'],
  ] as const;
  it.each(longRows(changes, ([, from]) => !ALIKE.includes(from)))(
    'does not see the change of %s (%s)',
    async (file, from, to) => {
      const dir = folderOf(FILES);
      const before = await load(dir);
      lie(dir, file, from, to);
      const after = await expectAsAnew(dir);
      expect(seen(after)).not.toEqual(seen(before));
      lie(dir, file, to, from);
      expect(seen(await expectAsAnew(dir))).toEqual(seen(before));
    },
  );

  it.each<readonly [string, Options]>([
    ['a variable of the environment', { env: { CALLSHEET_VAR_CITY: 'Elm' } }],
    ['--var', { vars: { city: 'Elm' } }],
    ['--env', { environment: 'staging' }],
    ['a secret that is missing', { secrets: 'check' }],
    ['another program', { program: 'another one' }],
  ])('is of another environment: %s', async (_, options) => {
    const dir = folderOf(FILES);
    await load(dir);
    await expectAsAnew(dir, options);
    await expectAsAnew(dir, options);
    await expectAsAnew(dir);
  });

  it('is of another file of variables under the same name', async () => {
    const dir = folderOf({ ...FILES, '.vars.yaml': 'city: Elm\n' });
    const varFiles = [join(dir, '.vars.yaml')];
    await load(dir, { varFiles });
    lie(dir, '.vars.yaml', 'Elm', 'Oak');
    const { stack } = await expectAsAnew(dir, { varFiles });
    expect(
      stack?.resources.find(({ address }) => address === 'agent.desk')?.document,
    ).toMatchObject({ greeting_message: 'Hello from Oak' });
  });

  it('is of another program', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    expect(await parsedIn(() => load(dir, { program: 'another one' }))).toBeGreaterThan(3);
  });

  it('was sealed by somebody else, or says what another entry says', async () => {
    const [ours, theirs] = [folderOf(FILES), folderOf(FILES)];
    await load(ours);
    lie(theirs, 'agents/desk.yaml', 'name: Desk', 'name: Evil');
    await load(theirs, { env: { CALLSHEET_FINGERPRINT_KEY: 'a key of a stranger' } });
    const [mine, foreign] = [entriesOf(ours), entriesOf(theirs)];
    for (const [index, path] of mine.entries()) {
      // In short: one entry of the stranger, and one of ours.
      const another = foreign.length + ((index + 1) % mine.length);
      const others = longRows([...foreign, ...mine], (_, at) => at === index || at === another);
      for (const other of others) {
        if (other === path) continue;
        const before = readFileSync(path);
        writeFileSync(path, readFileSync(other));
        await expectAsAnew(ours);
        writeFileSync(path, before);
      }
    }
  });

  it('has more levels than an entry has', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    for (const path of entriesOf(dir)) {
      const before = readFileSync(path);
      writeFileSync(
        path,
        resealed(path, (line) => line.replace(/[[{].*/, deep(10_000))),
      );
      await expectAsAnew(dir);
      writeFileSync(path, before);
    }
  });

  it('is damaged at random, or cut short', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    const whole = new Map(entriesOf(dir).map((path) => [path, readFileSync(path)]));
    const damage = fc.record({
      entry: fc.nat(),
      at: fc.nat(),
      bit: fc.nat(7),
      isCut: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ entry, at, bit, isCut }) => {
        for (const [path, bytes] of whole) writeFileSync(path, bytes);
        const [path = '', bytes = Buffer.of()] = [...whole][entry % whole.size] ?? [];
        const offset = at % bytes.length;
        const damaged = Buffer.from(isCut ? bytes.subarray(0, offset) : bytes);
        if (!isCut) damaged[offset] = (damaged[offset] ?? 0) ^ (1 << bit);
        writeFileSync(path, damaged);
        await expectAsAnew(dir);
      }),
      { numRuns: runs(25) },
    );
  });

  it('is never believed, whatever is edited in between', async () => {
    const paths = Object.keys(FILES).filter((path) => !/pdf|wav/.test(path));
    const edit = fc.record({
      what: fc.constantFrom(
        'replace',
        'replace',
        'copy',
        'remove',
        'restore',
        'variable',
        'damage',
      ),
      path: fc.constantFrom(...paths),
      other: fc.constantFrom(...paths),
      from: fc.constantFrom('Desk', 'Night', 'east', 'common', 'name', 'phone', 'Alder Bay', '1'),
      to: fc.constantFrom('Dusk', 'Light', 'oast', 'common', 'nome', 'phase', 'Elder Bay', '2', ''),
      environment: fc.constantFrom(undefined, undefined, 'staging'),
      city: fc.constantFrom('', 'Elm', 'Oak'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 3, maxLength: 6 }), async (edits) => {
        const dir = folderOf(FILES);
        let city = '';
        await load(dir);
        for (const { what, path, other, from, to, environment, city: next } of edits) {
          const file = join(dir, path);
          if (what === 'replace' && existsSync(file))
            writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
          else if (what === 'copy' && existsSync(join(dir, other)))
            writeFileSync(file, readFileSync(join(dir, other)));
          else if (what === 'remove' && path !== 'callsheet.yaml') rmSync(file, { force: true });
          else if (what === 'restore') writeFileSync(file, FILES[path] ?? '');
          else if (what === 'variable') city = next;
          else if (what === 'damage')
            for (const entry of entriesOf(dir)) writeFileSync(entry, from);
          await expectAsAnew(dir, { environment, env: { CALLSHEET_VAR_CITY: city } });
        }
        rmSync(dir, { recursive: true });
      }),
      { numRuns: runs(12) },
    );
  });
});

describe('two processes at once', () => {
  it('see what there is, while files change', async () => {
    const dir = folderOf(FILES);
    const stack = join(import.meta.dirname, '../../src/stack/index.ts');
    const script = `
      const { loadStack } = await import(${JSON.stringify(stack)});
      for (let round = 0; round < ${runs(20)}; round += 1) {
        const { stack } = await loadStack({ dir: ${JSON.stringify(dir)}, env: process.env, secrets: 'skip', program: 'this one', vars: { city: 'City ' + round % 4 } });
        const desk = stack.resources.find(({ address }) => address === 'agent.desk');
        if (desk.document.greeting_message !== 'Hello from City ' + round % 4) throw new Error('stale: ' + desk.document.greeting_message);
      }
    `;
    const run = async () => {
      const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
        env: { ...process.env, ...KEY },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [said, [exit]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
      return exit === 0 ? '' : said;
    };
    const said = await Promise.all(isTorture ? [run(), run(), run()] : [run(), run()]);
    expect(said.join('')).toBe('');
    await expectAsAnew(dir);
    expect(await parsedIn(() => load(dir, { vars: { city: 'City 1' } }))).toBe(0);
  });
});

describe('what is written', () => {
  it('holds no secret, and nothing of the environment', async () => {
    const dir = folderOf(FILES);
    const env = { SMS_TOKEN: SECRET, CALLSHEET_VAR_TOKEN: FILLED };
    const { diagnostics } = await load(dir, { env });
    expect(diagnostics).toEqual([]);
    expect(await parsedIn(() => load(dir, { env }))).toBe(0);
    for (const path of entriesOf(dir)) {
      const bytes = `${path} ${readFileSync(path, 'latin1')}`;
      for (const canary of [SECRET, FILLED]) {
        expect(bytes).not.toContain(canary);
        expect(bytes).not.toContain(Buffer.from(canary).toString('base64').slice(0, -3));
      }
    }
  });

  it('is for its owner alone, and not for Git', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    expect(readFileSync(join(dir, '.callsheet/.gitignore'), 'utf8')).toBe('*\n');
    expect(statSync(cacheOf(dir)).mode & 0o777).toBe(0o700);
    for (const path of entriesOf(dir)) expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is bounded, and what is used stays', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    for (const path of entriesOf(dir)) utimesSync(path, 0, 0);
    for (let city = 0; city < 30; city += 1) {
      // What is used now and then is used.
      if (isTorture || city % 5 === 0) expect(await parsedIn(() => load(dir))).toBe(0);
      await load(dir, { vars: { city: `City ${city}` } });
    }
    expect(await parsedIn(() => load(dir))).toBe(0);
    expect(entriesOf(dir).length).toBeLessThanOrEqual(24);
  });

  it('is nothing for a stack with errors', async () => {
    const dir = folderOf({ ...FILES, 'agents/desk.yaml': 'agents: { desk: { nome: Desk } }\n' });
    const { stack } = await expectAsAnew(dir);
    expect(stack).toBeUndefined();
    await expectAsAnew(dir);
  });

  it('may be deleted', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    rmSync(join(dir, '.callsheet'), { recursive: true });
    await expectAsAnew(dir);
  });

  // Whom no mode keeps out cannot try it.
  it.skipIf(process.getuid?.() === 0)('is nothing where another user made it', async () => {
    const dir = folderOf(FILES);
    await load(dir);
    for (const mode of [0o000, 0o500]) {
      chmodSync(cacheOf(dir), mode);
      await load(dir, { vars: { city: `City ${mode}` } }).finally(() =>
        chmodSync(cacheOf(dir), 0o700),
      );
    }
    await expectAsAnew(dir);
  });

  it.each<readonly [string, (dir: string, elsewhere: string) => void]>([
    ['.callsheet is a file', (dir) => writeFileSync(join(dir, '.callsheet'), '')],
    [
      '.callsheet leads elsewhere',
      (dir, elsewhere) => symlinkSync(elsewhere, join(dir, '.callsheet')),
    ],
    [
      '.callsheet/cache leads elsewhere',
      (dir, elsewhere) => {
        mkdirSync(join(dir, '.callsheet'));
        symlinkSync(elsewhere, cacheOf(dir));
      },
    ],
  ])('is nothing where %s', async (_, prepare) => {
    const [dir, elsewhere] = [folderOf(FILES), temporaryFolder()];
    prepare(dir, elsewhere);
    await expectAsAnew(dir);
    await expectAsAnew(dir);
    expect(readdirSync(elsewhere)).toEqual([]);
    expect(lstatSync(dirname(cacheOf(dir))).isDirectory() && !existsSync(cacheOf(dir))).toBe(false);
  });
});
