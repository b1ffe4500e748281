import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type Admit, Origin } from '../core/origin.ts';
import { confirm } from './confirm.ts';
import type { Context } from './context.ts';

/** Decides which servers get credentials, with the environment and the terminal of a command. */
export function admitIn({ env, terminal }: Pick<Context, 'env' | 'terminal'>): Admit {
  const file = fileOfHosts(env);
  return (address) =>
    Origin.admit(address, {
      hosts: env.CALLSHEET_ALLOW_HOSTS,
      async confirm(host, question) {
        if ((await confirmedHosts(file)).includes(host)) return true;
        terminal.live?.end();
        if (!(await confirm(`${question} Send them?`, terminal))) return false;
        await remember(file, host);
        return true;
      },
    });
}

/** The hosts that this person confirmed: one a line, in the person's own folder and never in a repository. */
function fileOfHosts({ XDG_STATE_HOME: states, HOME: home }: Context['env']): string | undefined {
  const folder = states || (home && join(home, '.local', 'state'));
  return folder ? join(folder, 'callsheet', 'hosts') : undefined;
}

async function confirmedHosts(file: string | undefined): Promise<readonly string[]> {
  const text = file === undefined ? '' : await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

/** Where that cannot be written down it is asked again the next time. */
async function remember(file: string | undefined, host: string): Promise<void> {
  if (file === undefined) return;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${host}\n`, { mode: 0o600 });
  } catch {
    // The confirmation holds for this command.
  }
}
