import { hash } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { bareAddress } from '../../../core/origin.ts';
import type { HttpPlace } from '../../../core/stores.ts';
import { findFilled } from '../../../core/value.ts';
import { StillLocked } from '../../../state/failures.ts';
import type { LockEffects, LockRecord } from '../../../state/lock.ts';
import { parseRecord } from '../../../state/shape.ts';
import {
  type DocumentPlace,
  foldTexts,
  inFew,
  type Put,
  type Whole,
  zip,
  zipLong,
} from '../remote/document.ts';
import {
  type Answer,
  ask,
  askOnce,
  type Exchange,
  isDone,
  refusal,
  refuseClearText,
  rememberAnswer,
  said,
} from '../remote/exchange.ts';
import {
  type Doing,
  type Retries,
  refusedByStore,
  TRAFFIC,
  trafficFrom,
} from '../remote/failures.ts';

/**
 * A server that speaks the protocol of Terraform's `http` backend, as GitLab does.
 *
 *     LOCK   lock_address      {"ID": …}   200, or 409 or 423 with the lock that is held
 *     GET    address                       200, or 404 or 204 where there is nothing
 *     POST   address?ID=…      document    200; 409 or 423 where that lock is not held: the fence
 *     UNLOCK unlock_address    {"ID": …}   200
 *
 * The lock is held for as long as the lease is. The protocol has no heartbeat and does not tell who holds a
 * lock, so both stand in the document.
 */
export type Credentials = {
  readonly username: string | undefined;
  readonly password: string | undefined;
};

/** Slower than elsewhere: each heartbeat writes the whole document, where no batch was written right before. */
const TIMING = { beat: 5_000, silent: 12_000, watch: 16_000 };
/** A lock is taken and the document written in two steps; the second follows within `watch`. */
const GLANCE_MS = 500;
const MB = 1024 * 1024;
const WHOLE: Omit<Whole, 'most'> = {
  fold: foldTexts,
  pace: MB,
  free: 20 * MB,
  longest: 3_000,
  gathers: 64,
  changes: 20,
  setting: TRAFFIC,
};
/** Together, and with the marks that JSON puts into texts, they fit into one document that is sent and read at once. */
const MOST = { runs: 30, size: 4_000_000, state: 64 * MB, journal: 24 * MB };
const WHERE_CREDENTIALS = 'CALLSHEET_STATE_USERNAME and CALLSHEET_STATE_PASSWORD.';
const UNLOCK_THERE =
  'Wait until that run ends. If no run is active, remove the lock on the server itself.';
const REFUSED = new Set([409, 412, 423]);
/** Some servers answer so where a lock is not held; it may as well mean the document. */
const UNSAID = 400;
const KEPT = 'the server answered that it did, and still has the lock';
const ON_SERVER =
  'Check unlock_address and unlock_method, and remove the lock on the server itself';
const RECORDED = `The changes of the run are made and recorded. ${ON_SERVER}, because every other run waits for it.`;
const NOT_BEGUN = `Nothing was sent to the platform. ${ON_SERVER}, once no run is active.`;

export function httpPlace(
  given: HttpPlace,
  credentials: Credentials,
  exchange: Exchange,
  effects: LockEffects,
  retries: Retries,
  mostTraffic: number = trafficFrom({}),
): DocumentPlace {
  const address = new URL(given.address);
  const location = bareAddress(address);
  const methods = getMethods(given, address);
  for (const url of listAddresses(given)) refuseClearText(new URL(url), location);
  const asking = { exchange, location, retries };
  const headers = headersFor(given, credentials, address);
  address.username = '';
  address.password = '';

  const request = (method: string, url: string, body?: string) => ({
    method,
    url,
    headers: body === undefined ? headers : { ...headers, ...bodyHeaders(body) },
    ...(body === undefined ? {} : { body }),
  });
  const refuse = (answer: Answer, what: Doing) =>
    refusal(answer, what, location, WHERE_CREDENTIALS);

  const remembered = rememberAnswer();
  /** The info of each lock, by its id. Servers compare all of it before they unlock. */
  const infos = new Map<string, string>();

  function buildLockInfo(lease: string): string {
    const info = infos.get(lease) ?? newInfo(lease, location, effects);
    infos.set(lease, info);
    return info;
  }

  async function askToLock(lease: string): Promise<Answer> {
    const answer = await ask(
      asking,
      'lock',
      request(methods.lock, methods.lockAddress, buildLockInfo(lease)),
    );
    const held = REFUSED.has(answer.status) ? idIn(answer.text) : undefined;
    if (held !== undefined && held !== lease) infos.set(held, answer.text);
    return answer;
  }

  const askToUnlock = (lease: string): Promise<Answer> =>
    ask(asking, 'unlock', request(methods.unlock, methods.unlockAddress, buildLockInfo(lease)));

  /** Asks a second time where the server cannot say more than that the request was wrong: it may have been restarting. */
  async function askToLockTwice(lease: string): Promise<Answer> {
    const answer = await askToLock(lease);
    return answer.status === UNSAID ? askToLock(lease) : answer;
  }

  /** Returns true if the lock is still ours, and leaves it as it is: one that is free was lost, and stays free. */
  async function hasLock(lease: string): Promise<boolean> {
    const found = await askToLock(lease);
    if (isDone(found)) await askToUnlock(lease);
    return REFUSED.has(found.status) && idIn(found.text) === lease;
  }

  /** Undefined: it is ours now. Otherwise the id of the lock that is held. */
  async function lock(lease: string, seen: LockRecord | undefined): Promise<string | undefined> {
    const answer = await askToLockTwice(lease);
    if (isDone(answer)) return undefined;
    if (!REFUSED.has(answer.status)) throw refuse(answer, 'lock');
    const held = idIn(answer.text) ?? seen?.id;
    if (held === undefined)
      throw refusedByStore(
        'lock',
        location,
        'it is locked, and the server does not say by whom',
        UNLOCK_THERE,
      );
    // The answer to the first try was lost.
    return held === lease ? undefined : held;
  }

  /**
   * Unlocks, and looks whether the lock is free: some servers, and addresses that lead elsewhere, answer 200 and unlock
   * nothing, and a no may mean that the lock is gone. The protocol has no other look than to ask for the lock. Throws
   * `StillLocked` where it is there and stays.
   */
  async function unlock(lease: string): Promise<void> {
    const answer = await askToUnlock(lease);
    const found = await askToLock(lease);
    if (isDone(found)) {
      // If the unlock is refused, another run that saw the lease given back took it away.
      await askToUnlock(lease);
      return;
    }
    const held = REFUSED.has(found.status) ? idIn(found.text) : undefined;
    if (held !== undefined && held !== lease) return;
    if (held === undefined && isDone(answer)) return;
    throw new StillLocked(location, isDone(answer) ? KEPT : said(answer), RECORDED);
  }

  async function post(text: string, lease: string): Promise<Answer> {
    const url = new URL(address);
    url.searchParams.set('ID', lease);
    return askOnce(asking, 'write', request(methods.update, url.href, text));
  }

  /** A server that takes the first document from a stranger would take any from a run that lost its lock. */
  async function refuseOpenDoor(text: string): Promise<void> {
    const answer = await post(text, 'callsheet-is-this-lock-checked');
    if (!isDone(answer)) return;
    throw refusedByStore(
      'open',
      location,
      'the server accepts a state without its lock',
      'Two runs could write at once. Use a server that checks the ID of the lock, as GitLab does, or another store.',
    );
  }

  return {
    location,
    timing: TIMING,
    most: MOST,
    async read() {
      const { url, method, headers: plain } = request('GET', address.href);
      const headers = { ...plain, ...remembered.conditions() };
      const answer = await ask(asking, 'read', { method, url, headers });
      if (answer.status === 404 || answer.status === 204) return undefined;
      const { status, text } = remembered.take(answer);
      if (status !== 200) throw refuse(answer, 'read');
      return text === '' ? undefined : { text, tag: hash('sha256', text) };
    },
    async put(text, tag, lease): Promise<Put> {
      if (tag === undefined) await refuseOpenDoor(text);
      const answer = await post(text, lease);
      if (REFUSED.has(answer.status)) return 'lost';
      if (answer.status === UNSAID && !(await hasLock(lease))) return 'lost';
      if (!isDone(answer)) throw refuse(answer, 'write');
      return { tag: hash('sha256', text) };
    },
    async enter(lease, seen) {
      let stranger: string | undefined;
      /** Answers to the UNLOCK of each lock: a second one would be answered alike. */
      const answers = new Map<string, Answer>();
      for (let waited = 0; ; waited += GLANCE_MS) {
        const held = await lock(lease, seen);
        if (held === undefined) return true;
        // Its holder died, or gave it back in the document and could not do so here.
        const isOver = held === seen?.id || (held === stranger && waited >= TIMING.watch);
        if (isOver) {
          const answer = answers.get(held);
          if (answer !== undefined)
            throw new StillLocked(location, isDone(answer) ? KEPT : said(answer), NOT_BEGUN);
          answers.set(held, await askToUnlock(held));
        } else if (stranger !== undefined && held !== stranger) return false;
        else if (waited > 0 && (await hasWritten(held))) return false;
        else await effects.sleep(GLANCE_MS);
        stranger = held;
      }
    },
    leave: unlock,
    keep: async (text) => zipLong(text),
    whole: { ...WHOLE, most: mostTraffic },
    traffic: exchange.traffic,
    fetch: async () => undefined,
    discard: async () => {},
    pack: async (_, read) => inFew(await read()).map(zip),
    retries,
    close: () => exchange.close(),
  };

  /** Returns true if the holder of a lock has written its lease into the document. */
  async function hasWritten(lease: string): Promise<boolean> {
    const { status, text } = await ask(asking, 'read', request('GET', address.href));
    return status === 200 && text.includes(`"id":${JSON.stringify(lease)}`);
  }
}

/** GitLab has its lock below the state, and methods of its own. */
const GITLAB = /\/api\/v4\/projects\/[^/]+\/terraform\/state\/[^/]+$/;

/** Every address that requests of a place go to. */
export function listAddresses(given: HttpPlace): readonly string[] {
  const { lockAddress, unlockAddress } = getMethods(given, new URL(given.address));
  return [...new Set([given.address, lockAddress, unlockAddress])];
}

function getMethods(given: HttpPlace, address: URL) {
  const isGitLab = GITLAB.test(address.pathname);
  const plain = bareAddress(address);
  const lockAddress =
    given.lock_address ?? (isGitLab ? `${plain}/lock` : `${plain}${address.search}`);
  return {
    lockAddress,
    unlockAddress: given.unlock_address ?? lockAddress,
    lock: given.lock_method ?? (isGitLab ? 'POST' : 'LOCK'),
    unlock: given.unlock_method ?? (isGitLab ? 'DELETE' : 'UNLOCK'),
    update: given.update_method ?? 'POST',
  };
}

function headersFor(
  { username }: HttpPlace,
  credentials: Credentials,
  address: URL,
): Readonly<Record<string, string>> {
  const user = credentials.username ?? username ?? decodeURIComponent(address.username);
  const password = credentials.password ?? decodeURIComponent(address.password);
  const accept = { accept: 'application/json', 'user-agent': 'callsheet' };
  if (user === '' && password === '') return accept;
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  return { ...accept, authorization: `Basic ${basic}` };
}

function bodyHeaders(body: string): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'content-md5': hash('md5', body, 'base64'),
  };
}

/** Returns Terraform's lock info; servers want every member of it. */
function newInfo(lease: string, location: string, { now }: LockEffects): string {
  return JSON.stringify({
    ID: lease,
    Operation: 'callsheet',
    Info: '',
    Who: `${userInfo().username}@${hostname()}`,
    Version: '1',
    Created: new Date(now()).toISOString(),
    Path: location,
  });
}

/** Returns the id of the lock's holder; undefined if the server does not name it. */
function idIn(text: string): string | undefined {
  return findFilled(parseRecord(text)?.ID);
}
