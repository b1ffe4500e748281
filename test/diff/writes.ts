import { expect, test } from 'vitest';
import { getKind } from '../../src/core/address.ts';
import { type Path, parsePath } from '../../src/core/path.ts';
import type { JsonObject } from '../../src/core/value.ts';
import { mergeDocuments, requestBody } from '../../src/diff/merge.ts';
import { kindNamed } from '../../src/kinds/index.ts';
import { desiredResource, type Written, world } from '../world.ts';

/** What is wanted, what is live and what is to happen, and the body that must be sent. */
export type Write = {
  readonly title: string;
  readonly address?: string;
  readonly desired: Written;
  readonly live: JsonObject;
  /** Paths of what goes away. */
  readonly cleared?: readonly string[];
  /** Paths of secrets that are to be sent. */
  readonly secrets?: readonly string[];
  readonly ignore?: readonly string[];
  readonly fields: readonly string[];
  readonly body: JsonObject;
};

const KNOWN = world().secrets({ 'env:TOKEN': 'the token' });
const IDS: Readonly<Record<string, string>> = { 'retry_policy.gentle': 'p-1' };

export function bodyOf(write: Omit<Write, 'title' | 'body'>): JsonObject {
  const { address = 'agent.desk', desired, live, cleared = [], secrets = [], ignore = [] } = write;
  const { schema } = kindNamed(getKind(address));
  const { document } = desiredResource(address, desired);
  const intent = {
    cleared: new Set(cleared),
    secrets: new Set(secrets),
    ignore: ignore.map(parsePath).filter((path): path is Path => path !== undefined),
  };
  const merged = mergeDocuments(
    schema,
    document,
    live,
    intent,
    KNOWN.given((at) => IDS[at]),
  );
  return requestBody(schema, merged, write.fields);
}

/** One test a row. */
export function writes(rows: readonly Write[]): void {
  test.each(rows)('$title', ({ body, ...write }) => {
    expect(bodyOf(write)).toEqual(body);
  });
}

/** The secret that is known. */
export const TOKEN = { $secret: 'env:TOKEN' };
export const tool = (name: string, more: JsonObject = {}): JsonObject => ({
  type: 'webhook',
  name,
  url: `https://${name}.example.test`,
  ...more,
});
