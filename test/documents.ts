/**
 * Whatever a test has the program print as JSON is held against its schema, by a validator that the program does
 * not use. The harnesses that run commands ask for it, so that no test can forget it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import '@hyperjump/json-schema/formats';
import {
  type Json,
  registerSchema,
  type SchemaObject,
  validate,
} from '@hyperjump/json-schema/draft-2020-12';
import { DOCUMENTS, type DocumentFormat, PRINTED } from '../src/cli/documents.ts';

export const SCHEMAS = join(import.meta.dirname, '../schemas');

type Problem = string;
type Check = (document: unknown) => readonly Problem[];

/** Of files that only documents refer to. */
const checks = new Map<string, Promise<Check>>();

/** What is wrong with a document of that format; nothing where it is as its schema says. */
export async function problemsOf(
  format: DocumentFormat,
  document: unknown,
): Promise<readonly Problem[]> {
  const name = DOCUMENTS[format];
  const known = checks.get(name) ?? checkOf(name);
  checks.set(name, known);
  return (await known)(document);
}

async function checkOf(name: string): Promise<Check> {
  const schema: SchemaObject & { $id: string } = JSON.parse(
    readFileSync(join(SCHEMAS, `${name}.schema.json`), 'utf8'),
  );
  registerSchema(schema, schema.$id);
  const run = await validate(schema.$id);
  return (document) => {
    if (run(document as Json).valid) return [];
    const { errors = [] } = run(document as Json, 'BASIC');
    return errors.map(
      ({ instanceLocation, absoluteKeywordLocation }) =>
        `${instanceLocation} is not as ${absoluteKeywordLocation} says`,
    );
  };
}

/**
 * Holds what a command printed against the schema of its format. A command that was asked for JSON printed one
 * document of those that it may print, or a failure.
 */
export async function checkPrinted(out: string, args: readonly string[] = []): Promise<void> {
  const command = Object.keys(PRINTED)
    .filter((name) => ` ${args.join(' ')} `.startsWith(` ${name} `))
    .sort((a, b) => b.length - a.length)[0];
  const isAsked = args.some((arg, at) => arg === 'json' && args[at - 1] === '--format');
  if (out === '' || (!isAsked && !out.startsWith('{\n  "format": "callsheet-'))) return;
  const document: { readonly format?: unknown } = JSON.parse(out);
  const { format } = document;
  const expected = command === undefined ? Object.keys(DOCUMENTS) : PRINTED[command];
  if (!isFormat(format) || ![...(expected ?? []), 'callsheet-error'].includes(format))
    throw new Error(`callsheet ${args.join(' ')} printed a document of the format ${format}`);
  const problems = await problemsOf(format, document);
  if (problems.length === 0) return;
  const what = `what callsheet ${args.join(' ')} printed is not as schemas/${DOCUMENTS[format]}.schema.json says`;
  throw new Error([what, ...problems.slice(0, 20), out.slice(0, 4000)].join('\n'));
}

export function isFormat(format: unknown): format is DocumentFormat {
  return typeof format === 'string' && format in DOCUMENTS;
}
