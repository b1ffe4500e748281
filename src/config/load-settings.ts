import { resolve as resolvePath } from 'node:path';
import { type Diagnostic, hasErrors } from '../core/diagnostics.ts';
import type { StatePlace } from '../core/state-place.ts';
import { kinds } from '../kinds/index.ts';
import { STACK_FILE } from './discover.ts';
import { enterEnvironment } from './environment.ts';
import { openFolder } from './folder.ts';
import type { LoadOptions } from './load.ts';
import { secretNames } from './masks.ts';
import { openReport } from './problems.ts';
import { refuseFolder } from './refuse-folder.ts';
import { type Platform, readSettings } from './settings.ts';
import { readStackFile } from './stack-file.ts';
import { readVariables } from './variables.ts';
import { memberOf } from './written.ts';

/** What `callsheet.yaml` says beside the resources of a stack. */
export type StackSettings = {
  /** Absolute path of the stack folder. */
  readonly dir: string;
  readonly platform: Platform;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the default organization. */
  readonly organization: string | undefined;
  /** Where the state is; of a file the absolute path. */
  readonly state: StatePlace;
};

/**
 * Reads `callsheet.yaml` alone, for commands that need to know where the platform is and not what should
 * be there. A resource that is wrong does not stand in their way. `settings` is undefined where
 * `callsheet.yaml` itself is wrong.
 */
export function loadSettings(options: Omit<LoadOptions, 'secrets'>): {
  readonly settings: StackSettings | undefined;
  readonly diagnostics: readonly Diagnostic[];
} {
  const dir = resolvePath(options.dir);
  const refused = refuseFolder(dir);
  if (refused !== undefined) {
    return { settings: undefined, diagnostics: [{ severity: 'error', ...refused }] };
  }
  const report = openReport();
  const folder = openFolder(dir);
  const names = secretNames(kinds);
  const { root: written } = readStackFile(folder, STACK_FILE, names, report);
  if (written?.type !== 'map') {
    const known = report.diagnostics();
    if (hasErrors(known)) return { settings: undefined, diagnostics: known };
    const hint = 'callsheet validate says what is wrong with it.';
    report.add({ rule: 'stack/settings', message: `${STACK_FILE} holds no settings`, hint });
    return { settings: undefined, diagnostics: report.diagnostics() };
  }
  const { root } = enterEnvironment(written, options.environment, dir, report);
  const variables = readVariables(memberOf(root, 'variables')?.value, options, report);
  const { env, environment } = options;
  const deps = { folder, variables, report, env, environment, secretNames: names };
  const { platform, organizations, organization, state } = readSettings(root, deps);
  const diagnostics = report.diagnostics();
  if (hasErrors(diagnostics)) return { settings: undefined, diagnostics };
  return {
    settings: {
      dir,
      platform,
      organizations,
      organization: organization === 'failed' ? undefined : organization,
      state,
    },
    diagnostics,
  };
}
