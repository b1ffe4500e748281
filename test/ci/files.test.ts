import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { validate } from '@actions/languageservice';
import { describe, expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';
import project from '../../package.json' with { type: 'json' };
import { serverConfig } from './atlantis.ts';
import { jobsIn } from './gitlab.ts';
import { EXAMPLES } from './place.ts';

const TREE = 'tree/github/callsheet.yaml';
const WORKFLOWS = [...globSync('github/workflows/*.yaml', { cwd: EXAMPLES }).sort(), TREE];
const ACTIONS = ['github/actions/callsheet/action.yml', 'tree/github/action.yml'];

const read = (file: string) => readFileSync(join(EXAMPLES, file), 'utf8');

/** What GitHub's own editor service says of a file: its schema, its expressions and what they may name. */
async function problemsIn(file: string, text = read(file)): Promise<readonly string[]> {
  // It remembers documents by their address.
  const folder = file.endsWith('action.yml') ? 'actions/callsheet' : 'workflows';
  const uri = `file:///${crypto.randomUUID()}/.github/${folder}/${basename(file)}`;
  const found = await validate(TextDocument.create(uri, 'yaml', 1, text), {});
  return found.map(({ message, range }) => `${basename(file)}:${range.start.line + 1} ${message}`);
}

describe('GitHub', () => {
  test.each([...WORKFLOWS, ...ACTIONS])('%s is what GitHub takes', async (file) => {
    expect(await problemsIn(file)).toEqual([]);
  });

  test.each([
    ['steps.plan.outputs.digest', 'steps.plam.outputs.digest', 'plam'],
    ['needs.plan.result', 'needs.plon.result', 'plon'],
    ['cancel-in-progress', 'cancel-in-progres', 'cancel-in-progres'],
  ])('a slip such as %s → %s would be found', async (from, to, said) => {
    const file = 'github/workflows/callsheet-plan.yaml';
    const text = read(file);
    expect(text).toContain(from);
    expect((await problemsIn(file, text.replace(from, to))).join('\n')).toContain(said);
  });

  test('there are the workflows, and none runs by itself for what a fork may have written', () => {
    expect(WORKFLOWS.map((file) => basename(file))).toEqual([
      'callsheet-apply.yaml',
      'callsheet-drift.yaml',
      'callsheet-plan-fork.yaml',
      'callsheet-plan.yaml',
      'callsheet-resume.yaml',
      'callsheet-rollback.yaml',
      'callsheet-rollout.yaml',
      'callsheet.yaml',
    ]);
    const { on: asked } = parse(read('github/workflows/callsheet-plan-fork.yaml'));
    expect(Object.keys(asked)).toEqual(['workflow_dispatch']);
    for (const file of WORKFLOWS) {
      const { on, permissions, jobs } = parse(read(file));
      expect(Object.keys(on)).not.toContain('pull_request_target');
      expect(Object.keys(on)).not.toContain('workflow_run');
      expect(permissions).toEqual({});
      for (const [id, job] of Object.entries<{ readonly permissions: object }>(jobs)) {
        // One alone pushes: the branch with the revert of what was rolled back.
        const contents = id === 'revert' ? 'write' : 'read';
        expect(job.permissions).toMatchObject({ contents });
      }
    }
  });

  test.each([...WORKFLOWS, ...ACTIONS])('no run step of %s has an expression in it', (file) => {
    const scripts = [...stepsIn(parse(read(file)))].flatMap(({ run }) => run ?? []);
    expect(scripts.length + WORKFLOWS.length).toBeGreaterThan(0);
    expect(scripts.filter((script) => script.includes('${{'))).toEqual([]);
  });

  test('a job with credentials of the platform cannot write, and one that writes has none', () => {
    for (const file of WORKFLOWS) {
      for (const job of Object.values<Record<string, unknown>>(parse(read(file)).jobs)) {
        const writes = Object.values(job.permissions ?? {}).includes('write');
        const hasSecrets = JSON.stringify(job).includes('secrets.');
        expect([writes, hasSecrets, job.environment !== undefined]).toEqual(
          writes ? [true, false, false] : [false, hasSecrets, hasSecrets],
        );
      }
    }
  });
});

test('Callsheet is installed from a lockfile in its own version, and nowhere by its name', () => {
  const root = join(EXAMPLES, '../..');
  const pages = globSync(['README.md', 'docs/*.md', 'examples/**/*.md'], { cwd: root });
  const files = globSync('**/{*,.*,.*/**/*}', { cwd: EXAMPLES, withFileTypes: true })
    .filter((file) => file.isFile())
    .map((file) => join(file.parentPath, file.name));
  const texts = [...files, ...pages.map((page) => join(root, page))].map((file) =>
    readFileSync(file, 'utf8'),
  );
  const lines = texts.flatMap((text) => text.match(/\b(?:npm|npx|pnpm|yarn|bunx) .*/g) ?? []);
  const installs = files
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => /^[\s-]*npm ci /.test(line));
  expect(installs.length).toBeGreaterThan(4);
  expect(installs.filter((line) => !line.includes('--ignore-scripts'))).toEqual([]);
  // Whoever registers the name would have what the job has.
  expect(lines.filter((line) => /[ "]callsheet(?:[@"` ]|$)/.test(line))).toEqual([]);
  for (const folder of ['github/actions/callsheet', 'gitlab/.gitlab/callsheet']) {
    const { dependencies } = JSON.parse(read(`${folder}/package.json`));
    expect(dependencies).toEqual({ callsheet: `file:callsheet-${project.version}.tgz` });
  }
});

describe('GitLab', () => {
  test('.gitlab-ci.yml is what GitLab takes, and a merge request is planned and noted', async () => {
    expect(await jobsIn('merge')).toEqual({
      'callsheet-validate': 'on_success',
      'callsheet-plan': 'on_success',
      'callsheet-note': 'always',
    });
  });
});

test('the server of Atlantis lets no pull request choose the commands', () => {
  for (const repo of serverConfig().repos) {
    expect(repo).toMatchObject({ allowed_overrides: [], allow_custom_workflows: false });
  }
  expect(parse(read('atlantis/atlantis.yaml')).workflows).toBeUndefined();
});

function* stepsIn(node: unknown): Generator<{ readonly run?: string }> {
  if (typeof node !== 'object' || node === null) return;
  if ('steps' in node && Array.isArray(node.steps)) yield* node.steps;
  for (const value of Object.values(node)) yield* stepsIn(value);
}

test('Atlantis keeps a state of its own for each folder and workspace', () => {
  const places = (['plan', 'apply'] as const).map((stage) => {
    const { command = '' } =
      serverConfig().workflows.callsheet?.[stage].steps.find(({ env }) => env)?.env ?? {};
    return [
      ['clinics/harbor', 'default'],
      ['clinics/bay', 'default'],
      ['clinics/bay', 'staging'],
    ].map(([REPO_REL_DIR, WORKSPACE]) =>
      execFileSync('sh', ['-c', command], { env: { REPO_REL_DIR, WORKSPACE }, encoding: 'utf8' }),
    );
  });
  expect(new Set(places[0]).size).toBe(3);
  expect(places[1]).toEqual(places[0]);
});
