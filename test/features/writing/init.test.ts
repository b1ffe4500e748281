import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as moment } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { validate } from '../../../src/console/validate.ts';
import { CallsheetError } from '../../../src/core/errors.ts';
import { fmt } from '../../../src/features/writing/edit/fmt.ts';
import { addressName, writeAll } from '../../../src/features/writing/init/files.ts';
import {
  ask,
  type InitFlags,
  init,
  isExportWanted,
  type Streams,
} from '../../../src/features/writing/init/init.ts';
import { type SimulatorOptions, startSimulator } from '../../../src/simulator/index.ts';
import { openAuthorStage } from '../../cli/author-stage.ts';
import { temporaryFolder } from '../../temporary.ts';

const ID = '3c6e0b8a-9c15-4f1d-9f0e-5d2b7f1a2c11';
const ORGANIZATION = `harbor=${ID}`;

function folder(files: Readonly<Record<string, string>> = {}): string {
  const dir = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

function filesIn(dir: string): readonly string[] {
  const found = readdirSync(dir, { recursive: true, withFileTypes: true });
  return found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1))
    .sort();
}

async function begin(dir: string, flags: Partial<InitFlags> = {}): Promise<string> {
  const { context, said } = openAuthorStage();
  expect(await init({ dir, organization: ORGANIZATION, ...flags }, context)).toBe(0);
  return said();
}

async function expectSound(dir: string): Promise<void> {
  const { context, said } = openAuthorStage();
  expect([await validate({ dir, format: 'text' }, context), said()]).toEqual([
    0,
    expect.stringMatching(/^The configuration is valid: \d resources?\.\n$/),
  ]);
  expect(await fmt([], { dir, check: true }, context)).toBe(0);
}

describe('a new stack is valid at once, and formatted', () => {
  test.each<Partial<InitFlags>>([
    {},
    { baseUrl: 'https://voice.example.test', agent: 'Ünïque: "desk" #1' },
    { ci: 'github' },
    { ci: 'gitlab' },
    { empty: true },
    { organization: `no=${ID}` },
  ])('%j', async (flags) => {
    const dir = folder({ '.git/HEAD': '' });
    await begin(dir, flags);
    await expectSound(dir);
  });

  test.each([
    ['clinics/harbor', 'clinics/harbor'],
    ['Ünï (côde)/~desk~', 'Uni-code-/-desk'],
    ['2024', '2024'],
    ['true', 'true'],
    ['電話', 'stack'],
    ['x'.repeat(120), 'x'.repeat(100)],
  ])('after the folder %s, which no state of another stack answers to', async (path, id) => {
    const dir = join(folder({ '.git/HEAD': '' }), path);
    await begin(dir, {});
    await expectSound(dir);
    expect(parse(readFileSync(join(dir, 'callsheet.yaml'), 'utf8')).stack).toBe(id);
  });

  test('in a folder with other files, which it leaves alone', async () => {
    const others = {
      'compose.yaml': 'services: {}\n',
      'README.md': 'Hi',
      '.gitignore': '*.log\n.env\n',
    };
    const dir = folder(others);
    const said = await begin(dir);
    await expectSound(dir);
    for (const [path, text] of Object.entries(others)) {
      expect(readFileSync(join(dir, path), 'utf8')).toBe(text);
    }
    expect(said).toContain('! .gitignore is yours; add to it:\n      .callsheet/\n      .env.*\n');
  });

  test('with the schema of the Callsheet that is installed there', async () => {
    const dir = folder({ 'node_modules/callsheet/schemas/callsheet.schema.json': '{}' });
    await begin(dir);
    const line = (path: string) => readFileSync(join(dir, path), 'utf8').split('\n')[0];
    const schema = 'node_modules/callsheet/schemas/callsheet.schema.json';
    expect(line('callsheet.yaml')).toBe(`# yaml-language-server: $schema=${schema}`);
    expect(line('agents/front_desk.yaml')).toBe(`# yaml-language-server: $schema=../${schema}`);
    expect(filesIn(dir)).not.toContain('.callsheet-schema.json');
  });

  test('with a schema of its own where Callsheet is installed above the repository', async () => {
    const above = folder({ 'node_modules/callsheet/schemas/callsheet.schema.json': '{}' });
    const dir = join(above, 'repository');
    mkdirSync(join(dir, '.git'), { recursive: true });
    await begin(dir);
    const [line] = readFileSync(join(dir, 'callsheet.yaml'), 'utf8').split('\n');
    expect(line).toBe('# yaml-language-server: $schema=.callsheet-schema.json');
    expect(filesIn(dir)).toContain('.callsheet-schema.json');
  });
});

test.each([
  ['github', 'The pipeline keeps the state in the cache of GitHub Actions'],
  ['gitlab', 'GitLab keeps the state of the pipeline'],
] as const)('the pipeline of %s comes with where its state lives', async (ci, sentence) => {
  const dir = folder({ '.git/HEAD': '' });
  const said = (await begin(dir, { ci })).replace(/\s+/g, ' ');
  expect(said).toContain(sentence);
  expect(said).toContain('callsheet state migrate --to PLACE');
  expect(said).toContain('callsheet help stores');
});

test('what it says ends with the three commands to type', async () => {
  const dir = folder();
  const said = await begin(dir, { baseUrl: 'https://voice.example.test' });
  // It is quoted where a shell would take it apart.
  expect(said.replaceAll(JSON.stringify(dir), dir)).toBe(`  + callsheet.yaml
  + agents/front_desk.yaml
  + prompts/front_desk.md
  + .callsheet-schema.json
  + .gitignore
  + .gitattributes

Next:
  callsheet validate --dir ${dir}
  callsheet plan --dir ${dir}
  callsheet apply --dir ${dir}

plan and apply read CALLSHEET_CLIENT_ID and CALLSHEET_CLIENT_SECRET from the
environment.
`);
});

describe('nothing is written', () => {
  test.each<readonly [string, Readonly<Record<string, string>>, Partial<InitFlags>, RegExp]>([
    ['over a stack', { 'callsheet.yaml': 'callsheet: 1\n' }, {}, /is a stack already/],
    [
      'over other files',
      { 'prompts/front_desk.md': 'Mine' },
      {},
      /other files at prompts\/front_desk\.md/,
    ],
    ['inside another stack', { '../callsheet.yaml': '' }, {}, /is inside the stack/],
    ['for an id that is none', {}, { organization: 'harbor=1' }, /--organization harbor=1 cannot/],
    ['without an organization', {}, { organization: '' }, /cannot be used/],
    ['for an address that is none', {}, { baseUrl: 'voice.example' }, /--base-url/],
    ['for an agent in an empty stack', {}, { empty: true, agent: 'Desk' }, /--agent cannot/],
    [
      'for an address with a password, which is not repeated',
      {},
      { baseUrl: 'https://u:pw@voice.example.com' },
      /^--base-url cannot be used$/,
    ],
    [
      'for a foreign address that is plain http',
      {},
      { baseUrl: 'http://voice.example.com' },
      /--base-url/,
    ],
    ['of a pipeline that nothing would read', {}, { ci: 'github' }, /outside of a repository/],
    [
      'of a pipeline for a folder that is a pattern',
      { '.git/HEAD': '' },
      { ci: 'github', dir: 'a+b' },
      /no pipeline can be written for the folder a\+b/,
    ],
    ['for an agent without letters', {}, { agent: '42' }, /--agent 42 cannot be used/],
  ])('%s', async (_, files, flags, message) => {
    const outer = folder();
    const dir = join(outer, 'new');
    mkdirSync(dir);
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
    const before = filesIn(outer);
    const { context } = openAuthorStage();
    const given = { organization: ORGANIZATION, ...flags, dir: join(dir, flags.dir ?? '') };
    const made = init(given, context);
    await expect(made).rejects.toThrow(message);
    expect(filesIn(outer)).toEqual(before);
  });

  test('for an id without a name, which is shown how to be given', async () => {
    const { context } = openAuthorStage();
    await expect(init({ dir: folder(), organization: ID }, context)).rejects.toMatchObject({
      hint: `Give it as NAME=ID, such as harbor=${ID}`,
    });
  });

  test('where an agent needs an organization and nobody can be asked', async () => {
    const { context } = openAuthorStage();
    await expect(init({ dir: folder() }, context)).rejects.toThrow(/none is given/);
  });

  test('when one of the files cannot be, and its folders go again', () => {
    const dir = folder({ b: 'a file, no folder' });
    const files = ['a/deep/x', 'b/y'].map((path) => ({ path, text: '' }));
    expect(() => writeAll(dir, files)).toThrow(/nothing was written/);
    expect(readdirSync(dir)).toEqual(['b']);
  });
});

test('--keep-existing leaves what is there and writes the rest', async () => {
  const dir = folder({ 'prompts/front_desk.md': 'Mine' });
  const said = await begin(dir, { keepExisting: true });
  expect(said).toContain('= prompts/front_desk.md (was there)');
  expect(readFileSync(join(dir, 'prompts/front_desk.md'), 'utf8')).toBe('Mine');
  await expectSound(dir);
});

test('--keep-existing adds a pipeline to a stack, and touches none of its YAML', async () => {
  const dir = folder({ '.git/HEAD': '' });
  await begin(dir);
  const { context, said } = openAuthorStage();
  expect(await init({ dir, keepExisting: true, ci: 'github' }, context)).toBe(0);
  expect(said()).toContain('+ .github/workflows/callsheet-plan.yaml');
  expect(said()).not.toContain('callsheet.yaml\n');
  // Of a stack that is there, the first plan is long past.
  expect(said()).not.toMatch(/Next|callsheet plan|callsheet apply/);
  expect(said()).toMatch(/npm install[^\n]+\n\n[\s\S]+Then commit the files\.\n$/);
  await expectSound(dir);
  const again = openAuthorStage();
  await init({ dir, keepExisting: true }, again.context);
  expect(again.said()).toMatch(/\n\nNothing was written: the stack has these files\.\n$/);
  const more = init({ dir, keepExisting: true, ci: 'github', agent: 'Desk' }, context);
  await expect(more).rejects.toThrow('--agent cannot be used');
});

describe('a pipeline', () => {
  const EXAMPLES = join(import.meta.dirname, '../../../examples/ci');
  // What is for stacks with rollouts or a freeze alone has a test of its own.
  const OPTIONAL = ['rollout', 'resume'].map((name) => `workflows/callsheet-${name}.yaml`);

  test.each([
    ['github', '.github'],
    ['gitlab', '.'],
  ] as const)('of %s is that of the examples, byte for byte', async (ci, top) => {
    const dir = folder({ '.git/HEAD': '' });
    await begin(dir, { ci });
    const examples = filesIn(join(EXAMPLES, ci));
    expect(examples.length).toBeGreaterThan(3);
    for (const path of examples.filter((one) => !OPTIONAL.includes(one))) {
      const [written, example] = [join(dir, top, path), join(EXAMPLES, ci, path)];
      expect(readFileSync(written, 'utf8'), path).toBe(readFileSync(example, 'utf8'));
    }
  });

  test('of a folder stands at the top of its repository, and says where the stack is', async () => {
    const top = folder({ '.git/HEAD': '' });
    await begin(join(top, 'stacks/harbor'), { ci: 'github' });
    // A second stack has workflows of its own, and the same action.
    const said = await begin(join(top, 'stacks/bay'), { ci: 'github' });
    expect(said).toContain('= ../../.github/actions/callsheet/ (15 files) (was there)');
    expect(readdirSync(join(top, '.github/workflows')).sort()).toEqual(
      ['apply', 'drift', 'plan-fork', 'plan', 'rollback']
        .flatMap((name) => [
          `callsheet-${name}-stacks-bay.yaml`,
          `callsheet-${name}-stacks-harbor.yaml`,
        ])
        .sort(),
    );
    for (const name of ['plan', 'plan-fork', 'apply', 'drift', 'rollback']) {
      const text = readFileSync(
        join(top, `.github/workflows/callsheet-${name}-stacks-harbor.yaml`),
        'utf8',
      );
      const { name: title, on, env, concurrency } = parse(text);
      // A rollback waits for an apply of the same stack, and for no other.
      if (name === 'apply' || name === 'rollback')
        expect(concurrency).toEqual({ group: 'callsheet apply (stacks-harbor)', queue: 'max' });
      expect(title).toMatch(/^callsheet .* \(stacks-harbor\)$/);
      expect(env).toMatchObject({ NAME: 'stacks-harbor', FOLDER: 'stacks/harbor' });
      const paths = ['stacks/harbor/**', '.github/**'];
      if (name === 'plan') expect(on.pull_request.paths).toEqual(paths);
      if (name === 'apply') expect(on.push.paths).toEqual(paths);
      expect(text).not.toMatch(/callsheet-(plan|apply)\.yaml/);
    }
  });

  test.each([
    ['rollout', 'rollouts: { careful: { steps: [100%] } }\n'],
    ['resume', 'guards:\n  freeze: [{ weekdays: [sat] }]\n'],
    ['resume', 'guards: { freeze: [{ weekdays: [sat] }] }\n'],
  ])('has the hourly workflow %s for stacks with %j alone', async (kind, settings) => {
    const top = folder({ '.git/HEAD': '' });
    const dir = join(top, 'clinic');
    await begin(dir, { ci: 'github' });
    const file = join(top, `.github/workflows/callsheet-${kind}-clinic.yaml`);
    expect(existsSync(file)).toBe(false);
    const stack = readFileSync(join(dir, 'callsheet.yaml'), 'utf8');
    writeFileSync(join(dir, 'callsheet.yaml'), `${stack}${settings}`);
    await init({ dir, keepExisting: true, ci: 'github' }, openAuthorStage().context);
    const text = readFileSync(file, 'utf8');
    const { name, on, env } = parse(text);
    expect(name).toBe(`callsheet ${kind} (clinic)`);
    expect(env).toMatchObject({ NAME: 'clinic', FOLDER: 'clinic' });
    if (kind !== 'rollout') return;
    expect(on.push.paths).toEqual(['clinic/**', '.github/**']);
    expect(text).toContain('WORKFLOW: callsheet-plan-clinic.yaml');
  });

  test('leads to a state of its own for each stack of a repository', async () => {
    const top = folder({ '.git/HEAD': '' });
    const places = async (name: string) => {
      const dir = join(top, name);
      await begin(dir, {});
      const stack = readFileSync(join(dir, 'callsheet.yaml'), 'utf8');
      writeFileSync(join(dir, 'callsheet.yaml'), `${stack}rollouts: { all: { steps: [100%] } }\n`);
      await init({ dir, keepExisting: true, ci: 'github' }, openAuthorStage().context);
      const file = name.replaceAll('/', '-');
      const texts = ['plan', 'plan-fork', 'apply', 'drift', 'rollout'].map((kind) =>
        readFileSync(join(top, `.github/workflows/callsheet-${kind}-${file}.yaml`), 'utf8'),
      );
      return {
        id: parse(stack).stack,
        // The key of the cache has the name.
        names: new Set(texts.map((text) => parse(text).env.NAME)),
        variables: new Set(
          texts.flatMap((text) =>
            [...text.matchAll(/CALLSHEET_STATE\w*(?= *}}| {2,}where)/g)].map(String),
          ),
        ),
      };
    };
    expect(await places('clinics/harbor')).toEqual({
      id: 'clinics/harbor',
      names: new Set(['clinics-harbor']),
      variables: new Set(['CALLSHEET_STATE_CLINICS_HARBOR']),
    });
    expect(await places('labs/harbor')).toEqual({
      id: 'labs/harbor',
      names: new Set(['labs-harbor']),
      variables: new Set(['CALLSHEET_STATE_LABS_HARBOR']),
    });

    // GitLab names the state by the stack, and a second pipeline is not put over the first.
    await begin(join(top, 'clinics/bay'), { ci: 'gitlab' });
    const { context, said } = openAuthorStage();
    const second = {
      dir: join(top, 'labs/bay'),
      organization: ORGANIZATION,
      ci: 'gitlab',
    } as const;
    await expect(init(second, context)).rejects.toThrow(/pipeline\.yml/);
    expect(said()).toBe('');
  });

  test('of GitLab is included by the one that is there', async () => {
    const own = 'include: [{ local: .gitlab/lint.yml }]\n';
    const top = folder({ '.git/HEAD': '', '.gitlab-ci.yml': own });
    const said = await begin(join(top, 'clinic'), { ci: 'gitlab' });
    expect(said).toContain(
      '! ../.gitlab-ci.yml is yours; add to it:\n      include: [{ local: .gitlab/callsheet/pipeline.yml }]\n',
    );
    expect(readFileSync(join(top, '.gitlab-ci.yml'), 'utf8')).toBe(own);
    const { variables } = parse(readFileSync(join(top, '.gitlab/callsheet/pipeline.yml'), 'utf8'));
    expect(variables).toMatchObject({ CALLSHEET_NAME: 'clinic', CALLSHEET_FOLDER: 'clinic' });
  });

  test.each([
    ['github', '.github/workflows/callsheet.yaml', 'FOLDER: "clinics"'],
    ['gitlab', '.gitlab/callsheet/pipeline.yml', 'CALLSHEET_FOLDER: "clinics"'],
    ['shell', 'callsheet/callsheet.sh', 'FOLDER=clinics'],
  ] as const)('of a tree of stacks for %s is for its folder', async (ci, guide, line) => {
    const top = folder({ '.git/HEAD': '' });
    await begin(join(top, 'clinics/bay'));
    const stacks = filesIn(top);
    const dir = join(top, 'clinics');
    const { context, said } = openAuthorStage();
    expect(await init({ dir, ci, recursive: true }, context)).toBe(0);
    const written = filesIn(top).filter((path) => !stacks.includes(path));
    // The lockfile is one more.
    expect(written.length).toBeLessThanOrEqual(3);
    expect(written).toContain(guide);
    expect(readFileSync(join(top, guide), 'utf8')).toMatch(new RegExp(`^ *${line}$`, 'm'));
    expect(said()).toContain(guide);
    // Never over what is there.
    writeFileSync(join(top, guide), 'Mine');
    await expect(init({ dir, ci, recursive: true }, context)).rejects.toThrow(/other files at/);
    expect(await init({ dir, ci, recursive: true, keepExisting: true }, context)).toBe(0);
    expect(readFileSync(join(top, guide), 'utf8')).toBe('Mine');
  });

  test.each<[Partial<InitFlags>, RegExp]>([
    [{}, /--recursive cannot be used/],
    [{ ci: 'none' }, /--recursive cannot be used/],
    [{ ci: 'github', agent: 'Desk' }, /--agent cannot be used/],
    [{ ci: 'github', organization: ORGANIZATION }, /--organization cannot be used/],
  ])('of a tree is refused with %j', async (flags, message) => {
    const dir = folder({ '.git/HEAD': '' });
    const made = init({ dir, recursive: true, ...flags }, openAuthorStage().context);
    await expect(made).rejects.toThrow(message);
    expect(filesIn(dir)).toEqual(['.git/HEAD']);
  });

  test('says how Callsheet is locked, until it is', async () => {
    const top = folder({ '.git/HEAD': '' });
    const dir = join(top, 'clinic');
    const tool = '.github/actions/callsheet';
    expect(await begin(dir, { ci: 'github' })).toMatch(
      new RegExp(`^  npm install --package-lock-only --prefix \\S+/${tool}$`, 'm'),
    );
    writeFileSync(join(top, tool, 'package-lock.json'), '{}');
    const { context, said } = openAuthorStage();
    await init({ dir, keepExisting: true, ci: 'github' }, context);
    expect(said()).not.toContain('npm');
    expect(said()).toMatch(
      /the pipeline needs are listed\s+at\s+the\s+top\s+of\n {2}\S+\/callsheet-plan-clinic\.yaml\n$/,
    );
  });
});

describe('with credentials in the environment', () => {
  async function refused(more: SimulatorOptions, env: Readonly<Record<string, string>> = {}) {
    const sim = await startSimulator(more);
    onTestFinished(sim.close);
    const { context, said } = openAuthorStage();
    const credentials = {
      CALLSHEET_BASE_URL: sim.url,
      CALLSHEET_CLIENT_ID: sim.clientId,
      CALLSHEET_CLIENT_SECRET: sim.clientSecret,
    };
    const dir = temporaryFolder();
    const own = { ...context, env: { ...credentials, ...env } };
    const error = await init({ dir }, own).catch((thrown: unknown) => thrown);
    expect(readdirSync(dir)).toEqual([]);
    return { hint: error instanceof CallsheetError ? error.hint : undefined, said: said(), dir };
  }

  test('the organizations of the key are listed where nobody can be asked', async () => {
    const { hint, dir } = await refused({ organizations: 2, agents: 3 });
    expect(hint).toMatch(/^ {2}--organization harbor_dental=[0-9a-f-]{36}$/m);
    expect(hint).toContain(`To write its 3 agents as a stack: \`callsheet export --out ${dir}\``);
  });

  test('a key that may not list organizations knows those of its agents', async () => {
    const { hint } = await refused(
      { organizations: 2, agents: 3 },
      {
        CALLSHEET_CLIENT_ID: 'simulated-organization-client',
        CALLSHEET_CLIENT_SECRET: 'simulated-organization-secret',
      },
    );
    expect(hint).toMatch(/^ {2}--organization organization_[0-9a-f]{8}=[0-9a-f-]{36}$/m);
  });

  test('a platform that cannot be read is told, and stops nobody', async () => {
    const { hint, said } = await refused({}, { CALLSHEET_CLIENT_SECRET: 'wrong' });
    expect(said).toContain('The platform could not be read: ');
    expect(hint).toMatch(/^Give --organization NAME=ID/);
  });
});

describe('on a terminal', () => {
  function terminal(): Streams & { readonly type: (keys: string) => Promise<void> } {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => input });
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 });
    output.resume();
    const streams = { input, output } as unknown as Streams;
    return {
      ...streams,
      // Each question reads the keys from when it is asked; a turn of the loop puts the next one up.
      type: async (keys) => {
        await moment(0);
        input.write(keys);
        await moment(0);
      },
    };
  }

  test('what no flag answers is asked', async () => {
    const { type, ...streams } = terminal();
    const answers = ask({ isEmpty: false, agent: 'Desk' }, streams);
    for (const keys of [
      'https://voice.example.test',
      '\r',
      'harbor',
      '\r',
      ID,
      '\r',
      '\x1b[B',
      '\r',
    ]) {
      await type(keys);
    }
    expect(await answers).toEqual({
      baseUrl: 'https://voice.example.test',
      organization: { name: 'harbor', id: ID },
      agent: 'Desk',
      ci: 'github',
    });
  });

  const ELM = '11111111-1111-4111-8111-111111111111';
  const ACCOUNT = {
    organizations: [
      { id: ELM, name: 'elm_street', title: 'Elm Street', agents: 2 },
      { id: ID, name: 'harbor', title: 'Harbor', agents: 0 },
    ],
    agents: 2,
    isMore: false,
  };

  test('an organization is chosen among those of the account, and the address is known', async () => {
    const { type, ...streams } = terminal();
    const env = { CALLSHEET_BASE_URL: 'https://voice.example.test' };
    const given = { isEmpty: false, agent: 'Desk', ci: 'none' } as const;
    const answers = ask(given, streams, { account: ACCOUNT, env });
    for (const keys of ['\r', '\x1b[B', '\r']) await type(keys);
    expect(await answers).toEqual({
      baseUrl: 'https://voice.example.test',
      organization: { name: 'harbor', id: ID },
      agent: 'Desk',
      ci: 'none',
    });
  });

  test('an organization that is not on the list is asked for', async () => {
    const { type, ...streams } = terminal();
    const given = { isEmpty: false, agent: 'Desk', ci: 'none', baseUrl: 'https://a.test' } as const;
    const answers = ask(given, streams, { account: ACCOUNT });
    for (const keys of ['\x1b[A', '\r', 'pier', '\r', ELM, '\r']) await type(keys);
    expect(await answers).toMatchObject({ organization: { name: 'pier', id: ELM } });
  });

  test.each([
    ['\r', true],
    ['\x1b[B\r', false],
  ])('an account with agents is offered to be exported: %j', async (keys, isWanted) => {
    const { type, ...streams } = terminal();
    const answer = isExportWanted({ isEmpty: false }, ACCOUNT, streams);
    await type(keys);
    expect(await answer).toBe(isWanted);
  });

  test('an account without agents is not', async () => {
    const { type: _, ...streams } = terminal();
    const empty = { ...ACCOUNT, agents: 0 };
    expect(await isExportWanted({ isEmpty: false }, empty, streams)).toBe(false);
  });

  test('an interrupt writes nothing', async () => {
    const { type, ...streams } = terminal();
    const answers = ask({ isEmpty: true }, streams);
    const ended = expect(answers).rejects.toMatchObject({ code: 'interrupted' });
    await type('\x03');
    await ended;
  });
});

test.each([
  ['Front desk', 'front_desk'],
  ['Ünïque — Desk!', 'unique_desk'],
  ['1st line', 'st_line'],
  ['受付', ''],
])('an agent called %j has the address %j', (display, name) => {
  expect(addressName(display)).toBe(name);
});
