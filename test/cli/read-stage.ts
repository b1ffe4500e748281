import { readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished } from 'vitest';
import schema from '../../schemas/read.schema.json' with { type: 'json' };
import type { Context } from '../../src/console/context.ts';
import { onTerminal, reportFailure } from '../../src/console/events.ts';
import type { Json } from '../../src/core/value.ts';
import { features } from '../../src/features/index.ts';
import { checkPrinted } from '../documents.ts';
import { temporaryFolder } from '../temporary.ts';

/** When the commands run. */
export const NOW = new Date('2026-11-21T09:45:00Z');

/** What the platform answers, by method and path without the query. */
export type Answers = {
  readonly [line: string]: Json | ((url: URL) => Json) | Refusal;
};

export class Refusal {
  readonly status: number;
  readonly body: Json;
  constructor(status: number, body: Json) {
    this.status = status;
    this.body = body;
  }
}

type Options = {
  readonly exit?: number;
  readonly env?: Context['env'];
  readonly width?: number;
  readonly color?: boolean;
};

export type Said = { readonly out: string; readonly err: string };

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const isDocument = ajv.compile(schema);

/** A JSON document that a command printed, which must be one that the schema describes. */
export function readDocument(out: string) {
  const document = JSON.parse(out);
  expect(isDocument(document), JSON.stringify(isDocument.errors)).toBe(true);
  return document;
}

export type ReadStage = {
  /** An empty folder, or one with the files that were given. */
  readonly dir: string;
  readonly url: string;
  /** Method, path and query of every request so far. */
  readonly requests: readonly string[];
  /** JSON bodies of the requests that had one. */
  readonly bodies: readonly Json[];
  /** Headers of the last request. */
  readonly lastHeaders: () => Readonly<Record<string, unknown>>;
  /** Runs a command and checks its exit code. It writes no file and sends nothing but reads: that is checked, too. */
  readonly run: (
    command: (context: Context) => Promise<number>,
    options?: Options,
  ) => Promise<Said>;
};

/**
 * A platform over a real socket that answers with fixed documents, for commands that only look at it. Closed
 * when the test ends.
 */
export async function openReadStage(
  answers: Answers,
  files: Readonly<Record<string, string>> = { 'callsheet.yaml': 'callsheet: 1\n' },
): Promise<ReadStage> {
  const requests: string[] = [];
  const bodies: Json[] = [];
  let headers: Readonly<Record<string, unknown>> = {};
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://platform');
    const line = `${request.method} ${url.pathname}`;
    requests.push(`${line}${url.search}`);
    headers = request.headers;
    const sent = await text(request);
    if (sent !== '') bodies.push(JSON.parse(sent));
    const known = Object.hasOwn(answers, line) ? answers[line] : undefined;
    const given = typeof known === 'function' ? known(url) : known;
    const { status, body } =
      given instanceof Refusal
        ? given
        : given === undefined
          ? new Refusal(404, { error: 'not_found', error_description: 'Nothing here' })
          : { status: 200, body: given };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dir = temporaryFolder();
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    dir,
    url,
    requests,
    bodies,
    lastHeaders: () => headers,
    async run(command, { exit = 0, env = {}, width = 80, color = false } = {}) {
      const said = { out: '', err: '' };
      const render = { width, color, verbose: false };
      const context: Context = {
        ...onTerminal({
          out: (line) => {
            said.out += line.endsWith('\n') ? line : `${line}\n`;
          },
          err: (line) => {
            said.err += line.endsWith('\n') ? line : `${line}\n`;
          },
          render,
          renderErr: render,
          wrapsErr: false,
          canAsk: false,
          ask: async () => '',
        }),
        features,
        env: { CALLSHEET_BASE_URL: url, CALLSHEET_ACCESS_TOKEN: 'canary-access-token', ...env },
        now: () => NOW,
        stop: new AbortController().signal,
        version: '0.0.0',
      };
      const before = await readdir(dir);
      const ended = await command(context).catch((error: unknown) =>
        reportFailure(error, context.terminal, false),
      );
      expect(ended, `${said.err}${said.out}`).toBe(exit);
      expect(await readdir(dir)).toEqual(before);
      await checkPrinted(said.out);
      return said;
    },
  };
}
