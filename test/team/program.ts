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
  /** The file that Node runs as `callsheet`. */
  readonly bin: string;
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

/** What is typed and what pipelines spawn: it asks this process, in which the program runs with the time of the month. */
const client = (port: number) => `const socket = require('node:net').connect(${port}, '127.0.0.1');
socket.setEncoding('utf8');
let text = '';
socket.on('data', (part) => { text += part; });
socket.on('end', () => {
  const answer = JSON.parse(text);
  if (answer.isKilled) {
    process.kill(process.ppid, 'SIGKILL');
    process.kill(process.pid, 'SIGKILL');
  }
  process.stdout.write(answer.out);
  process.stderr.write(answer.err);
  process.exitCode = answer.exit;
});
socket.write(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), env: process.env }) + '\\n');
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

  const serve = async (socket: Socket, text: string) => {
    const { args, cwd, env } = JSON.parse(text);
    const doom = hooks.doom(args);
    const { exit, out, err } = await run(args, cwd, env, doom).catch((error: unknown) => {
      hooks.onCrash(error);
      return { exit: 70, out: '', err: String(error) };
    });
    socket.end(JSON.stringify({ exit, out, err, isKilled: exit === 137 }));
  };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (part) => {
      text += part;
      if (text.endsWith('\n')) void serve(socket, text);
    });
  });
  // The path of a socket must be short, and a temporary folder's need not be.
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  onTestFinished(() => new Promise<void>((done) => void server.close(() => done())));

  const bin = join(folder, 'callsheet.cjs');
  writeFileSync(bin, client(port));
  return { bin, run };
}
