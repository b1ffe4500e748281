import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import {
  createMessageConnection,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import {
  type CompletionItem,
  CompletionRequest,
  ConfigurationRequest,
  type Diagnostic,
  DidOpenTextDocumentNotification,
  ExitNotification,
  type Hover,
  HoverRequest,
  InitializedNotification,
  InitializeRequest,
  MarkupContent,
  PublishDiagnosticsNotification,
  RegistrationRequest,
  ShutdownRequest,
} from 'vscode-languageserver-protocol';

const require = createRequire(import.meta.url);

/** A place in a document. `§` marks it where a test writes one. */
type LocatedValue = { readonly text: string; readonly line: number; readonly character: number };

/** The language server of VS Code's YAML extension, spoken to as an editor does. */
export type LanguageServer = {
  /** What it offers where `§` stands. */
  readonly complete: (file: string, text: string) => Promise<readonly CompletionItem[]>;
  /** What it shows over the character behind `§`, as Markdown; empty for nothing. */
  readonly hover: (file: string, text: string) => Promise<string>;
  /** What it underlines. */
  readonly check: (file: string, text: string) => Promise<readonly Diagnostic[]>;
  readonly close: () => Promise<void>;
};

/** What an editor would answer to `workspace/configuration`. Nothing is fetched from a network. */
const SETTINGS: Readonly<Record<string, unknown>> = {
  yaml: {
    validate: true,
    hover: true,
    completion: true,
    schemaStore: { enable: false },
    kubernetesCRDStore: { enable: false },
  },
};

/** Starts the server for a folder. Documents need not exist on the disk; schemas are read from there. */
export async function startLanguageServer(folder: string): Promise<LanguageServer> {
  const bin = require.resolve('yaml-language-server/bin/yaml-language-server');
  const child = spawn(process.execPath, [bin, '--stdio'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: process.env.PATH },
  });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const connection = createMessageConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const published = new Map<string, (found: readonly Diagnostic[]) => void>();
  connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) =>
    published.get(uri)?.(diagnostics),
  );
  connection.onRequest(ConfigurationRequest.type, ({ items }) =>
    items.map(({ section = '' }) => SETTINGS[section] ?? null),
  );
  connection.onRequest(RegistrationRequest.type, () => undefined);
  connection.listen();
  await connection.sendRequest(InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(folder).href,
    capabilities: {
      workspace: { configuration: true },
      textDocument: {
        completion: { completionItem: { snippetSupport: true } },
        hover: { contentFormat: ['markdown'] },
      },
    },
  });
  await connection.sendNotification(InitializedNotification.type, {});

  let opened = 0;
  /** Opens a document and waits until the server has said what is wrong with it. */
  const open = async (file: string, text: string) => {
    opened += 1;
    // A document of its own for each question: its folder decides what a relative path means.
    const uri = `${pathToFileURL(folder).href}/${file.replace(/(\.yaml)?$/, `.${opened}.yaml`)}`;
    const found = new Promise<readonly Diagnostic[]>((resolve) => published.set(uri, resolve));
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    });
    return { textDocument: { uri }, found };
  };
  return {
    complete: async (file, marked) => {
      const { text, ...position } = parseMarked(marked);
      const { textDocument } = await open(file, text);
      const answer = await connection.sendRequest(CompletionRequest.type, {
        textDocument,
        position,
      });
      return answer === null ? [] : Array.isArray(answer) ? answer : answer.items;
    },
    hover: async (file, marked) => {
      const { text, ...position } = parseMarked(marked);
      const { textDocument } = await open(file, text);
      return textOf(await connection.sendRequest(HoverRequest.type, { textDocument, position }));
    },
    check: async (file, text) => (await open(file, text)).found,
    close: async () => {
      await connection.sendRequest(ShutdownRequest.type);
      await connection.sendNotification(ExitNotification.type);
      await ended;
      connection.dispose();
    },
  };
}

function textOf(hover: Hover | null): string {
  if (hover === null) return '';
  const { contents } = hover;
  return MarkupContent.is(contents) ? contents.value : JSON.stringify(contents);
}

function parseMarked(marked: string): LocatedValue {
  const at = marked.indexOf('§');
  if (at < 0) throw new Error('the text has no § that marks a place');
  const before = marked.slice(0, at).split('\n');
  return {
    text: marked.slice(0, at) + marked.slice(at + 1),
    line: before.length - 1,
    character: before.at(-1)?.length ?? 0,
  };
}
