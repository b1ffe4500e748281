import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { validate } from '@actions/languageservice';
import { expect, test } from 'vitest';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { parse } from 'yaml';
import { parseShard } from '../../src/features/fleet/request.ts';
import { temporaryFolder } from '../temporary.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/fleets.md'), 'utf8');

/** The YAML below a heading of docs/fleets.md. */
function exampleOf(heading: string): string {
  const [, text = ''] =
    new RegExp(`### ${heading}\\n[\\s\\S]*?\`\`\`yaml\\n([\\s\\S]*?)\`\`\``).exec(PAGE) ?? [];
  return text;
}

async function problemsIn(text: string): Promise<readonly string[]> {
  const uri = `file:///${crypto.randomUUID()}/.github/workflows/fleet.yaml`;
  const found = await validate(TextDocument.create(uri, 'yaml', 1, text), {});
  return found.map(({ message }) => String(message));
}

test('the workflow for a tree of stacks is what GitHub takes', async () => {
  const text = exampleOf('GitHub Actions');
  expect(await problemsIn(text)).toEqual([]);
  expect((await problemsIn(text.replace('matrix.part', 'matrix.prat'))).join()).toContain('prat');
  const { jobs } = parse(text);
  for (const { strategy } of [jobs.plan, jobs.apply]) {
    expect(strategy.matrix.part).toEqual([1, 2, 3, 4]);
  }
  const [planned] = jobs.plan.steps.filter(({ env }: { env?: object }) => env !== undefined);
  expect(planned.run).toContain('--shard "$PART/4"');
});

test('the pipeline for a tree of stacks is what GitLab takes: a job for each part', () => {
  const text = exampleOf('GitLab CI');
  const shards: readonly string[] = parse(text)['.callsheet'].parallel.matrix[0].SHARD;
  const counts = shards.map((shard) => parseShard(shard));
  expect(counts).toEqual([1, 2, 3, 4].map((index) => ({ index, count: 4 })));
  const folder = temporaryFolder();
  writeFileSync(join(folder, '.gitlab-ci.yml'), text);
  const git = (...words: readonly string[]) =>
    execFileSync('git', ['-C', folder, ...words], { stdio: 'pipe' });
  git('init', '--quiet', '--initial-branch=main');
  git('remote', 'add', 'origin', 'git@gitlab.example.test:acme/agents.git');
  const bin = createRequire(import.meta.url).resolve('gitlab-ci-local');
  const args = ['--home', join(folder, 'home'), '--list-json'];
  const variables = [
    '--ignore-predefined-vars',
    'CI_COMMIT_BRANCH',
    '--variable',
    'CI_COMMIT_BRANCH=main',
  ];
  const listed = execFileSync(process.execPath, [bin, ...args, ...variables], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const jobs: readonly { readonly name: string }[] = JSON.parse(listed.toString());
  expect(jobs.map(({ name }) => name)).toEqual([
    ...shards.map((shard) => `plan: [${shard}]`),
    ...shards.map((shard) => `apply: [${shard}]`),
  ]);
});
