import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CallsheetError } from '../../core/errors.ts';
import type { NewFile, Surroundings } from './files.ts';
import type { Pipeline } from './pipeline-names.ts';

/** Of each pipeline: where its files go from the top of a repository, and which of them are named to people. */
const PIPELINES = {
  github: {
    top: '.github/',
    guide: '.github/workflows/callsheet-plan.yaml',
    tool: '.github/actions/callsheet',
  },
  gitlab: {
    top: '',
    guide: '.gitlab/callsheet/pipeline.yml',
    tool: '.gitlab/callsheet',
  },
} as const;

/** Path filters of GitHub and variables of GitLab give these a meaning of their own. */
const SPECIAL = /[*?+![\]$\\"\p{C}]/u;

/** This package's folder, above the source as above the bundle. */
export function packageFolder(from = import.meta.dirname): string {
  return existsSync(join(from, 'package.json')) ? from : packageFolder(dirname(from));
}

/**
 * The pipeline of `examples/ci`, at the top of the repository and for the stack's folder in it. There are no other
 * pipelines, so that what is written is what is tested and documented.
 */
export function pipelineFiles(
  pipeline: Pipeline,
  { inRepository, toRepository }: Surroundings,
): readonly NewFile[] {
  if (pipeline === 'none') return [];
  if (inRepository === undefined) {
    throw new CallsheetError('usage', `--ci ${pipeline} cannot be used outside of a repository`, {
      hint: 'A pipeline is read only at the top of a Git repository. Run git init there, then this command again',
    });
  }
  if (SPECIAL.test(inRepository)) {
    throw new CallsheetError('usage', `no pipeline can be written for the folder ${inRepository}`, {
      hint: 'Rename it: pipelines read one of its characters as a pattern or a variable',
    });
  }
  const from = join(packageFolder(), 'examples/ci', pipeline);
  return readdirSync(from, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => {
      const path = file.slice(from.length + 1).replaceAll('\\', '/');
      const text = readFileSync(file, 'utf8');
      // Where the service has a file of this name already, it includes the pipeline.
      const lines =
        path === '.gitlab-ci.yml' ? text.split('\n').filter((line) => /^\w/.test(line)) : undefined;
      return {
        path: `${toRepository}${PIPELINES[pipeline].top}${forFolder(path, inRepository)}`,
        text: /\.ya?ml$/.test(path) ? forFolder(text, inRepository) : text,
        ...(lines !== undefined && { lines }),
      };
    })
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** What is left to do by hand, as paths from the stack folder. */
export type SetUp = {
  /** The file whose head says what to set up at the service. */
  readonly guide: string;
  /** The folder whose package.json names Callsheet, and which has no lockfile yet; undefined where it has. */
  readonly unlocked: string | undefined;
};

/** What a pipeline needs beside its files. */
export function setUpOf(
  dir: string,
  pipeline: Pipeline,
  { inRepository = '', toRepository }: Surroundings,
): SetUp | undefined {
  if (pipeline === 'none') return undefined;
  const { guide, tool } = PIPELINES[pipeline];
  const isLocked = existsSync(join(dir, toRepository, tool, 'package-lock.json'));
  return {
    guide: toRepository + forFolder(guide, inRepository),
    unlocked: isLocked ? undefined : toRepository + tool,
  };
}

/** A pipeline, or the path of one, for the stack in a folder: its names, where it is and when it runs. */
function forFolder(text: string, folder: string): string {
  if (folder === '') return text;
  const name = folder.replace(/[^A-Za-z0-9]+/g, '-');
  return text
    .replace(/^name: callsheet .*/m, `$& (${name})`)
    .replace(/\b(callsheet-(?:plan|plan-fork|apply|drift))(?=\.yaml)/g, `$1-${name}`)
    .replace(/(?<=^ +(?:CALLSHEET_)?NAME: )callsheet$/gm, name)
    .replace(/(?<=^ +(?:CALLSHEET_)?FOLDER: )\.$/gm, JSON.stringify(folder))
    .replace(/# paths: .*/, `paths: ${JSON.stringify([`${folder}/**`, '.github/**'])}`);
}
