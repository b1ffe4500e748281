/**
 * Whatever a test has the program print as JSON is held against its schema. The harnesses that run commands ask for
 * it, so that no test can forget it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
import '@hyperjump/json-schema/formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openTable } from '../src/cli/command-table.ts';
import { DOCUMENTS, type DocumentFormat } from '../src/console/show.ts';
import { features } from '../src/features/index.ts';

const { commands: COMMANDS } = openTable(features);

const SCHEMAS = join(import.meta.dirname, '../schemas');

type Checks = {
  /** Fast, and what the program uses, too. */
  readonly ours: (document: unknown) => readonly string[];
  /** Somebody else's reading of the same schema: what it says is not for us to interpret. */
  readonly theirs: (document: unknown) => readonly string[];
};

const known = new Map<string, Promise<Checks>>();

/** Documents of each format that are given to the other validator too, which takes a hundred times as long. */
const TWICE = 5;
const seen = new Map<string, number>();

/** What is wrong with a document of that format; nothing where it is as its schema says. */
export async function problemsOf(
  format: DocumentFormat,
  document: unknown,
): Promise<readonly string[]> {
  const name = DOCUMENTS[format];
  const loading = known.get(name) ?? checksOf(name);
  known.set(name, loading);
  const { ours, theirs } = await loading;
  const count = (seen.get(format) ?? 0) + 1;
  seen.set(format, count);
  return [...ours(document), ...(count > TWICE ? [] : theirs(document))];
}

async function checksOf(name: string): Promise<Checks> {
  const schema: { readonly $id: string } = JSON.parse(
    readFileSync(join(SCHEMAS, `${name}.schema.json`), 'utf8'),
  );
  const ajv = formats.default(
    new Ajv2020({
      allErrors: true,
      discriminator: true,
      strictRequired: false,
      allowUnionTypes: true,
    }),
  );
  const isValid = ajv.compile(schema);
  registerSchema({ ...schema }, schema.$id);
  const look = await validate(schema.$id);
  return {
    ours: (document) =>
      isValid(document)
        ? []
        : (isValid.errors ?? []).map(({ instancePath, message, params }) =>
            `${instancePath} ${message} ${JSON.stringify(params)}`.trim(),
          ),
    theirs(document) {
      const output = look(document as Parameters<typeof look>[0], 'BASIC');
      const errors = 'errors' in output ? (output.errors ?? []) : [];
      return errors.map((one) => `${one.instanceLocation} breaks ${one.absoluteKeywordLocation}`);
    },
  };
}

/**
 * Holds what a command printed against the schema of its format. A command that was asked for JSON printed one
 * document of those that it may print, or a failure.
 */
export async function checkPrinted(out: string, args: readonly string[] = []): Promise<void> {
  const isAsked = args.some((arg, at) => arg === 'json' && args[at - 1] === '--format');
  if (out === '' || (!isAsked && !out.startsWith('{\n  "format": "callsheet-'))) return;
  const { format, ...rest }: { readonly format?: unknown } = JSON.parse(out);
  const may = [...formatsOf(args), 'callsheet-error'];
  if (!isFormat(format) || !may.includes(format))
    throw new Error(`callsheet ${args.join(' ')} printed a document of the format ${format}`);
  const problems = await problemsOf(format, { format, ...rest });
  if (problems.length === 0) return;
  const file = `schemas/${DOCUMENTS[format]}.schema.json`;
  const what = `what callsheet ${args.join(' ')} printed is not as ${file} says`;
  throw new Error([what, ...problems.slice(0, 20), out.slice(0, 4000)].join('\n'));
}

/** What the command of a line may print; anything, where no command is given. */
function formatsOf(args: readonly string[]): readonly string[] {
  if (args.length === 0) return Object.keys(DOCUMENTS);
  const line = `${args.join(' ')} `;
  const named = COMMANDS.filter(({ name }) => line.startsWith(`${name} `));
  // `get models` rather than `get`.
  return named.toSorted((a, b) => b.name.length - a.name.length)[0]?.prints ?? [];
}

export function isFormat(format: unknown): format is DocumentFormat {
  return typeof format === 'string' && format in DOCUMENTS;
}
