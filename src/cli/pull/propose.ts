import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '../../config/index.ts';
import { type Address, kindOf, matchesAddress } from '../../core/address.ts';
import type { Diagnostic } from '../../core/diagnostics.ts';
import { CallsheetError } from '../../core/errors.ts';
import type { PullDocument, PullLeft } from '../../core/pull-document.ts';
import { isList, isObject, Secret, type Value } from '../../core/value.ts';
import type { Planned } from '../../plan/make.ts';
import { nameResources, type Proposed, proposeFiles } from '../../pull/new/index.ts';
import { unifiedDiff } from '../../render/unified.ts';
import type { CommonFlags, Context } from '../context.ts';
import { SCHEMA_FILE } from '../init/files.ts';
import { writeAll } from '../init/place.ts';
import type { Session } from '../session.ts';
import { findForeign } from './find-foreign.ts';
import { readAgain } from './read-again.ts';

type ProposeFlags = CommonFlags & {
  readonly dryRun?: boolean;
  readonly skipRefused?: boolean;
};

/**
 * `pull --new`: a file for each live resource that the stack does not have. What is written is read again;
 * what would be wrong is taken back and refused.
 */
export async function propose(
  patterns: readonly string[],
  planned: Planned,
  session: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<PullDocument> {
  const { stack, state } = session;
  const managed = managedBy(planned, session);
  const found = await findForeign(session, (kind, id) => managed.has(`${kind} ${id}`));
  const taken = [...stack.resources.map(({ address }) => address), ...Object.keys(state.resources)];
  const all = nameResources(found.foreign, taken);
  const named = new Map([...all].filter(([, address]) => isMeant(patterns, address)));
  if (patterns.length > 0 && named.size === 0 && all.size > 0) throw noneSuch([...all.values()]);
  const ids = new Map(
    [...all].map(([{ kind, live }, address]) => [`${kind.name} ${live.id}`, address]),
  );
  const { organizations, organization } = { ...stack, ...stack.written() };
  const variables = new Set(stack.resources.flatMap(({ document }) => secretsIn(document)));
  const proposed = proposeFiles(named, {
    // One that is new refers to what is managed, and to what is written beside it.
    addressOf: (kind, id) => {
      const address = managed.get(`${kind} ${id}`) ?? ids.get(`${kind} ${id}`);
      return address !== undefined && (isManaged(address, stack) || isMeant(patterns, address))
        ? address
        : undefined;
    },
    organizations,
    organization,
    isAmbiguous: found.isAmbiguous,
    schema: existsSync(join(stack.dir, SCHEMA_FILE)) ? SCHEMA_FILE : undefined,
    isTaken: (file) => existsSync(join(stack.dir, file)),
    isVariableTaken: (name) => variables.has(`env:${name}`),
  });
  return write(proposed, session, flags, context);
}

function isManaged(address: Address, { resources }: Stack): boolean {
  return resources.some((one) => one.address === address);
}

/** Addresses by kind and id of everything that the stack stands for. */
function managedBy({ ids }: Planned, { state }: Session): ReadonlyMap<string, Address> {
  const recorded = Object.entries(state.resources).map(
    ([address, { kind, id }]) => [`${kind} ${id}`, address] as const,
  );
  const live = [...ids].map(([address, id]) => [`${kindOf(address)} ${id}`, address] as const);
  return new Map([...recorded, ...live]);
}

function isMeant(patterns: readonly string[], address: Address): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesAddress(pattern, address));
}

function noneSuch(addresses: readonly Address[]): CallsheetError {
  const shown = addresses.slice(0, 5).join(', ');
  return new CallsheetError('usage', 'no new resource has such an address', {
    hint: `There would be ${shown}${addresses.length > 5 ? ` and ${addresses.length - 5} more` : ''}.`,
  });
}

/** Writes what can be written; with refusals only where they may be skipped. */
async function write(
  proposed: readonly Proposed[],
  session: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<PullDocument> {
  const { stack } = session;
  const refused: PullLeft[] = [];
  for (const one of proposed) {
    if (one.file === undefined) refused.push(refusal(one, one.remarks[0]?.reason ?? ''));
  }
  let left = proposed.filter(isWritten);
  while (left.length > 0) {
    const wrong = await wrongIn(left, session, flags, context);
    if (wrong.length === 0) break;
    refused.push(...wrong.map(({ one, why }) => refusal(one, why)));
    left = left.filter((one) => !wrong.some((other) => other.one === one));
  }
  const isStopped = refused.length > 0 && flags.skipRefused !== true;
  const status =
    flags.dryRun === true
      ? left.length === 0
        ? 'nothing'
        : 'dry_run'
      : isStopped
        ? 'refused'
        : left.length === 0
          ? 'nothing'
          : 'written';
  const shown = status === 'refused' ? [] : left;
  if (status === 'written') writeAll(stack.dir, shown.flatMap(textsOf));
  return {
    format: 'callsheet-pull',
    version: 1,
    status,
    pulled: shown.map(({ address, file }) => ({ address, path: '', file, line: null })),
    kept: [],
    refused,
    remarks: shown.flatMap(({ remarks }) => remarks),
    secrets: shown.flatMap(({ secrets }) => secrets),
    files: shown.flatMap(({ texts }) =>
      [...texts].map(([path, text]) => ({
        path,
        created: true,
        ...(status === 'dry_run' && {
          diff: unifiedDiff({ file: path, before: undefined, after: text }),
        }),
      })),
    ),
  };
}

/** One that the configuration has words for. */
type Written = Proposed & { readonly file: string };

function isWritten(one: Proposed): one is Written {
  return one.file !== undefined;
}

/** Where the secrets of a document come from. */
function secretsIn(value: Value): readonly string[] {
  if (value instanceof Secret) return [value.source];
  if (isList(value)) return value.flatMap(secretsIn);
  return isObject(value) ? Object.values(value).flatMap(secretsIn) : [];
}

function refusal({ address, id }: Proposed, why: string): PullLeft {
  return {
    address,
    path: '',
    reason: `${id}: ${why}`,
    advice: 'write it by hand, or leave it to the dashboard',
  };
}

function textsOf({ texts }: Proposed) {
  return [...texts].map(([path, text]) => ({ path, text }));
}

/** Those of the new resources that the stack, read with them, has something against. */
async function wrongIn(
  proposed: readonly Written[],
  { stack }: Session,
  flags: ProposeFlags,
  context: Context,
): Promise<readonly { readonly one: Written; readonly why: string }[]> {
  const texts = proposed
    .flatMap(textsOf)
    .map(({ path, text }): readonly [string, string] => [path, text]);
  const read = await readAgain(stack.dir, texts, flags, context);
  if (read.stack !== undefined) {
    const known = new Set(read.stack.resources.map(({ address }) => address));
    return proposed
      .filter(({ address }) => !known.has(address))
      .map((one) => ({ one, why: `${one.file} is no file of the stack: include leaves it out` }));
  }
  const errors = read.diagnostics.filter(({ severity }) => severity === 'error');
  const about = (one: Written, { address, position }: Diagnostic) =>
    address === one.address || (position !== undefined && one.texts.has(position.file));
  const wrong = proposed.flatMap((one) => {
    const error = errors.find((each) => about(one, each));
    return error === undefined ? [] : [{ one, why: error.message }];
  });
  if (wrong.length > 0) return wrong;
  const why = errors[0]?.message ?? `${stack.dir} would have errors`;
  return proposed.map((one) => ({ one, why }));
}
