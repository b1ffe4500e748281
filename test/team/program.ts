import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { runHere } from '../e2e/in-process.ts';
import { mortal } from '../kill/mortal.ts';
import { type Agenda, SECOND } from './agenda.ts';

/** How a command is ended from outside, once so many things were changed by it: told to end, or killed. */
export type Doom = { readonly how: 'told' | 'killed'; readonly at: number };

/** A command that somebody or some job ran. */
export type Ran = {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exit: number;
  readonly out: string;
  readonly err: string;
};

export type Program = {
  /** What a shell runs as `callsheet`. */
  readonly command: string;
  readonly run: (
    args: readonly string[],
    cwd: string,
    env: Ran['env'],
    doom?: Doom,
  ) => Promise<Ran>;
};

export type Hooks = {
  /** What becomes of a command that is about to begin. */
  readonly doom: (args: readonly string[]) => Doom | undefined;
  readonly onEnd: (ran: Ran) => void;
  /** Told of what the program must never throw. */
  readonly onCrash: (error: unknown) => void;
};

/**
 * What is typed and what pipelines spawn: it asks this process, in which the program runs with the time of the month. A
 * shell starts in a tenth of the time that Node takes.
 */
const client = (port: number) => `exec 3<>/dev/tcp/127.0.0.1/${port}
{ printf '%s\\0' "$#" "$@" "$PWD"; cat /proc/self/environ; printf '\\0'; } >&3
read -r exit out err <&3
[ "$exit" = 137 ] && { kill -KILL $PPID; kill -KILL $$; }
cat "$out"
cat "$err" >&2
exit "$exit"
`;

/** How long a command takes, beside what it waits for. */
const PACE = 5 * SECOND;

export async function openProgram(folder: string, agenda: Agenda, hooks: Hooks): Promise<Program> {
  const run: Program['run'] = async (args, cwd, env, doom) => {
    agenda.advance(PACE);
    const stop = new AbortController();
    const { outside, isDead } = mortal(doom?.how === 'killed' ? doom.at : undefined);
    let left = doom?.at ?? 0;
    const ended = await runHere(
      args,
      { cwd, env },
      {
        now: agenda.now,
        stop: stop.signal,
        pause: { sleep: async (milliseconds) => agenda.advance(milliseconds), random: () => 0.5 },
        disk: outside.disk,
        wire: (transport) => ({
          close: transport.close,
          send(request) {
            if (request.method !== 'GET') left -= 1;
            if (doom?.how === 'told' && left <= 0) stop.abort();
            return outside.wire(transport).send(request);
          },
        }),
      },
    );
    const { exit, out, err } = ended;
    const ran = { args, cwd, env, exit: isDead() ? 137 : exit, out, err };
    hooks.onEnd(ran);
    return ran;
  };

  let answers = 0;
  const serve = async (socket: Socket, said: readonly string[]) => {
    const count = Number(said[0]);
    const args = said.slice(1, count + 1);
    const [cwd = '', ...variables] = said.slice(count + 1);
    const env = Object.fromEntries(
      variables.flatMap((text) => {
        const at = text.indexOf('=');
        return at < 0 ? [] : [[text.slice(0, at), text.slice(at + 1)]];
      }),
    );
    const doom = hooks.doom(args);
    const { exit, out, err } = await run(args, cwd, env, doom).catch((error: unknown) => {
      hooks.onCrash(error);
      return { exit: 70, out: '', err: String(error) };
    });
    answers += 1;
    const files = [out, err].map((text, at) => {
      const file = join(folder, `${at === 0 ? 'out' : 'err'}-${answers}`);
      writeFileSync(file, text);
      return file;
    });
    socket.end(`${exit} ${files.join(' ')}\n`);
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (part) => {
      text += part;
      // Nothing but the end of the variables is empty behind them.
      if (text.endsWith('\0\0')) void serve(socket, text.slice(0, -2).split('\0'));
    });
  });
  // The path of a socket must be short, and a temporary folder's need not be.
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => new Promise<void>((done) => void server.close(() => done())));

  const script = join(folder, 'callsheet.sh');
  writeFileSync(script, client(port));
  return { command: `bash "${script}"`, run };
}
