import { createHmac, createSecretKey, hash, hkdfSync, timingSafeEqual } from 'node:crypto';
import { canonicalJson } from '../core/digest.ts';
import { brokenSeal, keyMissing, otherKey, otherPlace, unsealed } from './failures.ts';
import type { JournalEntry } from './journal.ts';
import type { Trust } from './model.ts';

/**
 * Seals say that a text was written by somebody who has `CALLSHEET_FINGERPRINT_KEY`. More people can write to a store
 * than to the platform, and a checksum can be made by anybody.
 *
 * | text               | its seal                                   | covers                                                    |
 * |--------------------|--------------------------------------------|-----------------------------------------------------------|
 * | state              | `hmac-sha256:<key id>:<place>:<64 hex>`    | the checksum (so lineage, account, owner, what features keep), place |
 * | line of a journal  | `<key id>:<32 hex>`, beside its number     | run, lineage, account and owner of the run, number, entry  |
 *
 * The key is derived by HKDF-SHA256, the MAC is HMAC-SHA256. Parts of a remote document and the rows of a database hold
 * such texts and have no seal of their own. A seal does not show that a text is the newest: an older one fits as well.
 */
export type Seals = {
  /** True where there is a key. */
  readonly isOn: boolean;
  /** The trust in the states and journals that were read so far; undefined before the first. */
  readonly trust: () => Trust | undefined;
  /** The seal of a state with that checksum; undefined without a key. */
  readonly sealState: (checksum: string) => string | undefined;
  /** Throws `BrokenSeal` unless the seal fits, or may be absent. */
  readonly checkState: (seal: string | undefined, checksum: string, location: string) => void;
  /** Lines of the journal of a run, from the first or from one that comes after `count` others. */
  readonly lines: (
    run: string,
    after?: { readonly began: JournalEntry; readonly count: number },
  ) => LineSeals;
};

/** The seals of one journal, a line after the other. */
export type LineSeals = {
  /** The members that stand before the entry in its line: `"number":1,"seal":"…",`; empty without a key. */
  readonly seal: (entry: JournalEntry, digest: string) => string;
  /**
   * Throws `BrokenSeal` unless the next line is sealed, or may be unsealed. `isLoose`: lines before it may be missing.
   */
  readonly check: (line: SealedLine, location: string, isLoose?: boolean) => void;
};

export type SealedLine = {
  readonly entry: unknown;
  /** Hex SHA-256 of the text of the entry. */
  readonly digest: string;
  /** Both undefined: the line has no seal. */
  readonly number: number | undefined;
  readonly seal: string | undefined;
};

type SealOptions = {
  /** `CALLSHEET_FINGERPRINT_KEY`; an empty one counts as none. */
  readonly key?: string | undefined;
  /** The place of the texts, as `sealPlace` in `core/stores.ts` names it. */
  readonly place: string;
  readonly vouches?: Vouching | undefined;
};

/**
 * The texts that a reader takes for sealed: those sealed in another place (`state push`), or also those without a
 * seal or with that of another key (`state adopt`, and copies that a rehearsal made itself).
 */
export type Vouching = 'place' | 'everything';

/** A key that seals texts. `mac`: hex. */
export type SealingKey = { readonly id: string; readonly mac: (text: string) => string };

/** Derives the sealing key; undefined where there is no key. */
export function sealingKey(key: string | undefined): SealingKey | undefined {
  if (!key) return undefined;
  const derived = Buffer.from(hkdfSync('sha256', key, '', 'callsheet seals 1', 32));
  // A key object, since Node would make one from the bytes for each HMAC, which takes four times as long.
  const secret = createSecretKey(derived);
  return {
    id: hash('sha256', derived).slice(0, 8),
    mac: (text) => createHmac('sha256', secret).update(text).digest('hex'),
  };
}

/** Compares two seals in constant time. */
export function isSameSeal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

const STATE_SEAL = /^hmac-sha256:([0-9a-f]{8}):([0-9a-f]{16}):([0-9a-f]{64})$/;
const LINE_SEAL = /^([0-9a-f]{8}):([0-9a-f]{32})$/;

/** Opens the seals of one store. */
export function openSeals({ key, place, vouches }: SealOptions): Seals {
  const own = sealingKey(key);
  const here = hash('sha256', place).slice(0, 16);
  let found: Trust | undefined;

  function learn(trust: Trust): void {
    if (found === undefined || trust !== 'sealed') found = trust;
  }

  /** Throws for a text without a seal that must have one. */
  function checkAbsent(what: string): void {
    if (own !== undefined && vouches !== 'everything') throw unsealed(what);
    learn('unsealed');
  }

  /** The key of a seal; undefined where it is another one, and somebody vouches for the text. */
  function requireKey(what: string, id: string): SealingKey | undefined {
    if (own === undefined) throw keyMissing(what);
    if (id === own.id) return own;
    if (vouches !== 'everything') throw otherKey(what);
    learn('vouched');
    return undefined;
  }

  function stateSeal({ id, mac }: SealingKey, at: string, checksum: string): string {
    return `hmac-sha256:${id}:${at}:${mac(canonicalJson(['state', at, checksum]))}`;
  }

  function openLines(
    run: string,
    after: { readonly began: JournalEntry; readonly count: number } | undefined,
  ): LineSeals {
    let count = after?.count ?? 0;
    let subject = after && formatSubject(run, after.began);

    function lineSeal({ id, mac }: SealingKey, entry: unknown, number: number, digest: string) {
      subject ??= formatSubject(run, entry);
      return `${id}:${mac(`${subject}${number} ${digest}`).slice(0, 32)}`;
    }

    return {
      seal(entry, digest) {
        count += 1;
        if (own === undefined) return '';
        return `"number":${count},"seal":"${lineSeal(own, entry, count, digest)}",`;
      },
      check({ entry, digest, number, seal }, location, isLoose = false) {
        const what = `line ${count + 1} of the journal ${location}`;
        if (number === undefined || seal === undefined) {
          checkAbsent(what);
          count += 1;
          subject ??= formatSubject(run, entry);
          return;
        }
        const key = requireKey(what, LINE_SEAL.exec(seal)?.[1] ?? '');
        const before = subject;
        const fits = key === undefined || isSameSeal(seal, lineSeal(key, entry, number, digest));
        if (!fits) subject = before;
        if (!fits || number <= count) throw brokenSeal(what, 'was changed or belongs elsewhere');
        if (number !== count + 1 && !isLoose)
          throw brokenSeal(what, `is missing: line ${number} follows`);
        count = number;
        if (key !== undefined) learn('sealed');
      },
    };
  }

  return {
    isOn: own !== undefined,
    trust: () => found,
    sealState: (checksum) => own && stateSeal(own, here, checksum),
    checkState(seal, checksum, location) {
      const what = `the state ${location}`;
      if (seal === undefined) return checkAbsent(what);
      const [, id = '', at = ''] = STATE_SEAL.exec(seal) ?? [];
      const key = requireKey(what, id);
      if (key === undefined) return;
      if (!isSameSeal(seal, stateSeal(key, at, checksum)))
        throw brokenSeal(what, 'was changed by somebody who does not have the key');
      if (at === here) return learn('sealed');
      if (vouches === undefined) throw otherPlace(what);
      learn('vouched');
    },
    lines: openLines,
  };
}

/** A run by its beginning, so that no line of it fits into the journal of another. */
function formatSubject(run: string, began: unknown): string {
  const { lineage = '', account_id: account = '', owner = null } = Object(began);
  return canonicalJson(['journal', run, lineage, account, owner]);
}

/** Seals of a store without a key. */
export const NO_SEALS = openSeals({ place: '' });
