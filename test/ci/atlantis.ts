import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EXAMPLES, type Place } from './place.ts';
import { type Ended, spawnStep } from './spawn.ts';

type Step = {
  readonly run?: string;
  readonly env?: { readonly name: string; readonly command: string };
};

type Server = {
  readonly repos: readonly {
    readonly workflow: string;
    readonly allowed_overrides: readonly string[];
    readonly allow_custom_workflows: boolean;
  }[];
  readonly workflows: {
    readonly [name: string]: { readonly [stage in Stage]: { readonly steps: readonly Step[] } };
  };
};

export type Stage = 'plan' | 'apply';

export function serverConfig(): Server {
  return parse(readFileSync(join(EXAMPLES, 'atlantis/repos.yaml'), 'utf8'));
}

/** Runs a stage as the server does: `sh -c` for each step, in the clone, until one fails. */
export async function runStage(
  stage: Stage,
  place: Place,
  clone: string,
  kept: string,
): Promise<Ended> {
  const { repos, workflows } = serverConfig();
  const { [repos[0]?.workflow ?? '']: workflow } = workflows;
  const env: Record<string, string> = {
    ...place.machine,
    PATH: `${place.folder}:${place.machine.PATH}`,
    ...place.credentials.vars,
    ...place.credentials.secrets,
    HOME: kept,
    PLANFILE: join(clone, 'agents-default.tfplan'),
    PROJECT_NAME: 'agents',
    REPO_REL_DIR: '.',
    WORKSPACE: 'default',
    PULL_NUM: '2',
  };
  let said = '';
  for (const step of workflow?.[stage].steps ?? []) {
    // The server's disk is a folder of the test.
    if (step.env) {
      const { log } = await spawnStep(['sh', '-c', step.env.command], { cwd: clone, env });
      env[step.env.name] = log.trim().replace('/home/atlantis', kept);
    }
    if (step.run === undefined) continue;
    const { exit, log } = await spawnStep(['sh', '-c', step.run], { cwd: clone, env });
    said += log;
    if (exit !== 0) return { exit, log: said };
  }
  return { exit: 0, log: said };
}
