import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';

export type Shell = {
  /** Types a command and gives what it prints, to both outputs, and how it ends. */
  readonly type: (command: string) => Promise<{ readonly printed: string; readonly exit: number }>;
  /** Starts what goes on in another terminal, and gives what it prints until the pattern fits. */
  readonly begin: (command: string, until: (printed: string) => boolean) => Promise<string>;
  readonly close: () => Promise<void>;
};

type Place = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** A shell whose variables and folder last from one command to the next, as a reader's terminal. */
export function openShell({ cwd, env }: Place): Shell {
  const others: ChildProcess[] = [];
  const bash = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    env: { ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let heard = '';
  let listen = () => {};
  bash.stdout.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
    listen();
  });
  const gone = new Promise<void>((resolve) => bash.on('close', () => resolve()));

  return {
    type: (command) =>
      new Promise((resolve, reject) => {
        const mark = randomUUID();
        const end = new RegExp(`\\n?${mark} (\\d+)\\n$`);
        heard = '';
        listen = () => {
          const found = end.exec(heard);
          if (found === null) return;
          resolve({ printed: heard.slice(0, found.index), exit: Number(found[1]) });
        };
        void gone.then(() => reject(new Error(`the shell ended at: ${command}`)));
        bash.stdin.write(`{ ${command}\n} < /dev/null 2>&1\nprintf '\\n%s %s\\n' ${mark} $?\n`);
      }),
    begin: (command, until) =>
      new Promise((resolve, reject) => {
        const child = spawn('bash', ['--norc', '--noprofile', '-c', `exec ${command} 2>&1`], {
          cwd,
          env: { ...env },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        others.push(child);
        let printed = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
          if (until(printed)) resolve(printed);
        });
        child.on('close', () => reject(new Error(`${command} ended:\n${printed}`)));
      }),
    async close() {
      bash.stdin.end();
      const ends = others.map(
        (child) => new Promise<void>((resolve) => child.on('close', () => resolve())),
      );
      for (const child of others) child.kill('SIGINT');
      await Promise.all([gone, ...ends]);
    },
  };
}
