import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { drift } from '../../src/cli/commands/drift.ts';
import { rollback } from '../../src/cli/commands/rollback.ts';
import * as state from '../../src/cli/commands/state.ts';
import { apply } from '../../src/console/apply.ts';
import { plan } from '../../src/console/plan.ts';
import { restore } from '../../src/features/recovery/restore.ts';
import { create } from '../../src/features/recovery/snapshot-create.ts';
import { importCommand } from '../../src/features/writing/import.ts';
import { pull } from '../../src/features/writing/pull/command.ts';
import type { Dialect } from '../../src/simulator/index.ts';
import type { Command, Trouble } from './commands.ts';
import { editFiles, FIRST } from './edits.ts';
import {
  type Environment,
  type Fields,
  type Files,
  isFields,
  readFiles,
  type Value,
  type Wanted,
  wantedIn,
  writeFiles,
} from './files.ts';
import {
  allChanges,
  bindLive,
  type Changed,
  changesOf,
  differences,
  expectPlan,
  hollowIn,
  isNothing,
  isSame,
  type Live,
  leavesOf,
  lostSecrets,
  type Memory,
  NO_MEMORY,
  type Reason,
  secretsOf,
  secretValue,
  show,
  touches,
  valueAt,
} from './oracle.ts';
import { openStage, type Said } from './stage.ts';

export type Sequence = {
  readonly dialect: Partial<Dialect>;
  /** Milliseconds between commands: short ones leave it open whether something changed since. */
  readonly pace: number;
  readonly commands: readonly (Command | null)[];
};

/** Something that is not as it must be. The name says which rule was broken. */
class Broken extends Error {
  readonly rule: string;
  constructor(rule: string, text: string) {
    super(`${rule}: ${text}`);
    this.rule = rule;
  }
}

type Shown = {
  readonly address: string;
  readonly action: string;
  readonly fields?: readonly { readonly path: string }[];
  readonly secrets?: readonly object[];
};

/** A plan file that waits, with the world as it was when it was made. */
type Kept = {
  readonly file: string;
  readonly changes: readonly Shown[];
  readonly wanted: readonly Wanted[];
  readonly files: Files;
  readonly live: Live;
  readonly memory: Memory;
  readonly lineage: number;
};

type Run = {
  readonly id: string;
  readonly before: Live;
  readonly after: Live;
  /** What was managed before it. */
  readonly managed: Memory['managed'];
  /** Whether it came to its end and sent nothing: there is nothing of it to undo. */
  readonly isIdle: boolean;
  /** What a rollback that died was to undo: the next one goes on with that. */
  readonly undoes?: Run | undefined;
};

/** Plays a sequence to its end. Throws `Broken` where something is not as it must be. */
export async function play({ dialect, pace, commands }: Sequence): Promise<void> {
  /** How it came to what is wrong, for the message. */
  const told: string[] = [];
  const tell = (text: string) => void told.push(text);
  const fail = (rule: string, text: string) => {
    throw new Broken(rule, text);
  };
  const stage = await openStage(dialect, pace);
  const { folder, sim } = stage;
  const dir = { dir: folder };
  const json = { ...dir, format: 'json' as const };
  let files = FIRST;
  let kept: Kept | undefined;
  let savedState: { readonly copy: string; readonly memory: Memory } | undefined;
  let snapshot: { readonly file: string; readonly live: Live } | undefined;
  let runs: readonly Run[] = [];
  /** Ids of runs that were seen. */
  const known = new Set<string>();
  let appliedFiles: readonly Files[] = [];
  let number = 0;
  /** Counts the states that were begun. */
  let lineage = 0;
  const memories: Record<Environment, Memory> = { default: NO_MEMORY, staging: NO_MEMORY };
  /** What the last plan said that was looked at. */
  const planned: Record<Environment, string> = { default: '', staging: '' };
  /** Paths that were ever owned, by id. */
  const everOwned = new Map<string, Set<string>>();
  /** What a revert moved beside what is to be undone, and a rollback that died owes: texts of values by id and path. */
  const owed = new Map<string, string>();
  /** Runs that an apply took back before it was to do anything else. */
  const paid = new Set<string>();
  /** Ids of what runs took over whose rollback died: the next command settles whose they are. */
  const mayBeNobodys = new Set<string>();
  /** Ids that runs which did not end well were for: the state may have them by now. */
  const takenOver = new Set<string>();
  /** Ids of agents that were made by a run, and what was let go of since. */
  const madeByUs = new Set<string>();
  const letGo = new Set<string>();

  const save = (next: Files) => {
    files = next;
    writeFiles(folder, files);
  };

  /** Runs a command of the program, and looks at what every one of them must keep to. */
  const run = async (
    name: string,
    command: Parameters<typeof stage.run>[0],
    {
      dies = null,
      fault = null,
      env = {},
      environment = 'default',
      preview = '',
      allowed = () => false,
      mayLose = () => false,
    }: {
      readonly dies?: number | null;
      readonly fault?: Trouble | null;
      readonly env?: Readonly<Record<string, string>>;
      readonly environment?: Environment;
      /** What was said of it before. */
      readonly preview?: string;
      readonly allowed?: (changed: Changed, before: Live, after: Live) => boolean;
      readonly mayLose?: (id: string, path: string) => boolean;
    } = {},
  ): Promise<Said & { readonly before: Live; readonly after: Live; readonly writes: number }> => {
    const before = stage.live();
    sim.forgetRequests();
    if (fault !== null) sim.faults.add({ ...fault, times: 1 });
    const said = await stage.run(command, { dies, env });
    sim.faults.clear();
    const after = stage.live();
    const writes = sim.requests.filter(
      ({ method, operation }) => method !== 'GET' && operation !== 'createToken',
    ).length;
    // What a process says after its death is heard by nobody.
    const text = said.exit === null ? '' : `${said.err}\n${said.out}`;
    const shown = `${planned.default}${planned.staging}${preview}${text}`;
    tell(
      `${name}: exit ${said.exit}, ${writes} writes\n${said.err}${said.exit === 4 ? said.out : ''}`,
    );
    if (/This is a bug in Callsheet|Please report/i.test(text)) fail('bug', `${name}\n${said.err}`);
    // An id that a run made is no other resource.
    if (/was created at \S+, (when that run did not last|and the state has one of)/.test(text))
      fail('another one', `${name}\n${text.slice(0, 1500)}`);
    for (const [id, record] of Object.entries(after.agents))
      if (before.agents[id] === undefined) {
        madeByUs.add(id);
        const twin = Object.entries(after.agents).find(
          ([other, one]) =>
            other !== id &&
            madeByUs.has(other) &&
            one.name === record.name &&
            one.organization_id === record.organization_id,
        );
        if (twin !== undefined) fail('twice', `${name} made ${show(record.name)} twice`);
      }
    for (const changed of allChanges(before, after)) {
      const { section, id, path } = changed;
      const at = `${id} ${path ?? ''}`;
      const [then, now] = [before, after].map((world) =>
        path === undefined ? '' : show(valueAt(world[section][id], path)),
      );
      // A version restores all that it records; the update that follows puts the rest back.

      const isDead = said.exit === null && name === 'rollback' && path !== undefined;
      if (isDead && !owed.has(at)) owed.set(at, then ?? '');
      const isOwed = isDead || owed.get(at) === now;
      if (!allowed(changed, before, after) && !isOwed) {
        fail(
          'unowned',
          `${name}: ${section} ${show((before[section][id] ?? after[section][id])?.name)} ${path ?? ''} ${changed.is} ${then} → ${now}\n${said.err}${said.out.slice(0, 1500)}`,
        );
      }
    }
    for (const [id, record] of Object.entries(before.agents))
      for (const path of lostSecrets(record, after.agents[id])) {
        const isSaid = shown.includes(path.split('.').at(-1) ?? path);
        // A delete takes all of it along.
        const isDeleted = after.agents[id] === undefined && text.includes('delete');
        if (said.exit === null || mayLose(id, path) || isSaid || isDeleted) continue;
        fail('secret', `${name}: ${show(record.name)} lost ${path}, and nothing says so`);
      }
    for (const [id, record] of Object.entries(after.agents)) {
      const then = before.agents[id];
      // What a run wrote and took back itself was there in between.
      const wasThere = then !== undefined && / is rolled back \(/.test(said.err);
      // Of an object that had a secret alone, nothing but its name can be put back, and that is said.
      const hollow = hollowIn(record).filter(
        (path) =>
          valueAt(then, path) === undefined &&
          !(wasThere && path === 'integrations') &&
          !leftIn(said.out).some((one) => touches(one, path)),
      );
      if (hollow.length > 0 && said.exit !== null)
        fail('hollow', `${name}: ${show(record.name)} has ${hollow} with nothing in it`);
    }
    await noteRun(name, { ...said, before, after, writes }, environment);
    return { ...said, before, after, writes };
  };

  /** A run that sent something is listed, also where it died. */
  const noteRun = async (
    name: string,
    {
      exit,
      out,
      before,
      after,
      writes,
    }: Said & { readonly before: Live; readonly after: Live; readonly writes: number },
    environment: Environment,
  ) => {
    let id = exit === null ? undefined : runIn(out);
    if (id === undefined && (writes > 0 || exit === null)) {
      const listing = await stage.run((to) => state.runs(undefined, flagsOf(environment), to));
      const listed: readonly { readonly run: string; readonly state?: string }[] =
        listing.exit === 0 ? JSON.parse(listing.out).runs : [];
      id = listed.find(({ state }) => state === undefined)?.run;
    }
    const isNew = id !== undefined && !known.has(id);
    if (exit === null && writes > 0 && !isNew)
      fail('runs', `${name} was killed after ${writes} writes, and no run is recorded`);
    if (id === undefined || !isNew) return;
    known.add(id);
    if (environment !== 'default') return;
    const isIdle = exit !== null && writes === 0;
    runs = [...runs, { id, before, after, managed: memories.default.managed, isIdle }];
  };

  const noWrite = { allowed: () => false };

  const flagsOf = (environment: Environment) =>
    environment === 'default' ? json : { ...json, env: environment };

  /** What a run may change that brings these files about. */
  const allowedBy =
    (all: readonly Wanted[], memory: Memory, allowDelete: boolean) =>
    ({ section, id, path, is }: Changed, before: Live, after: Live): boolean => {
      if (is === 'made') return true;
      const found = bindLive(all, before, memory);
      const bound = all.find(({ address }) => found.get(address)?.[0] === id);
      if (is === 'gone') {
        const isManaged =
          takenOver.has(id) || [...memory.managed.values()].some((one) => one.id === id);
        return (
          (isManaged && (bound === undefined ? allowDelete : isReplaced(bound, before, id))) ||
          !memory.isCertain
        );
      }
      if (bound !== undefined) {
        const desired = [...leavesOf(bound.fields).keys()];
        if (desired.some((one) => touches(one, path ?? ''))) return true;
      }
      // What is bound later than the files say, by a run that is recovered.
      if ([...(everOwned.get(id) ?? [])].some((one) => touches(one, path ?? ''))) return true;
      return byItself(section, id, path ?? '', before, after);
    };

  const isReplaced = (wanted: Wanted, before: Live, id: string) =>
    before[wanted.section][id]?.organization_id !== wanted.organization;

  /** What the platform changes along with something else. */
  const byItself = (
    section: Wanted['section'],
    id: string,
    path: string,
    before: Live,
    after: Live,
  ): boolean => {
    const has = (one: string) =>
      changesOf(before[section][id] ?? {}, after[section][id] ?? {}).includes(one);
    if (path === 'voice_settings.language') return has('voice_settings.voice_id');
    if (path === 'default_retry_policy_id')
      return Object.keys(before.policies).length > Object.keys(after.policies).length;
    if (path === 'web_transfer_enabled') return has('transfer_enabled');
    if (section === 'sources')
      return path === 'status' || path === 'chunk_count' || path === 'text';
    // Limits that the tool had while it was off.
    return path.startsWith('payments.') && has('payments.tool_enabled');
  };

  const remember = (id: string, paths: Iterable<string>) => {
    const known = everOwned.get(id) ?? new Set();
    for (const path of paths) known.add(path);
    everOwned.set(id, known);
  };

  const rememberAll = (all: readonly Wanted[], live: Live, memory: Memory) => {
    const found = bindLive(all, live, memory);
    for (const { address, fields } of all) {
      const [id] = found.get(address) ?? [];
      if (id !== undefined) remember(id, leavesOf(fields).keys());
    }
  };

  /** What the state remembers once a run of these files ended well. */
  const applied = (
    all: readonly Wanted[],
    forgotten: readonly string[],
    memory: Memory,
    before: Live,
    after: Live,
    { isOfNow = true, held = new Set() }: { isOfNow?: boolean; held?: ReadonlySet<string> } = {},
  ): Memory => {
    const managed = new Map<string, { section: Wanted['section']; id: string }>();
    const settled = withMade(all, memory, before, after);
    const written = new Map<string, Set<string>>();
    const secrets = new Map(settled.secrets);
    const lost = new Set(memory.lost);
    const wasManaged = new Map([...memory.managed].map(([address, { id }]) => [id, address]));
    const found = bindLive(all, after, settled);
    for (const wanted of all) {
      const [id, record] = found.get(wanted.address) ?? [];
      if (id === undefined || record === undefined) continue;
      managed.set(wanted.address, { section: wanted.section, id });
      const paths = new Set(leavesOf(wanted.fields).keys());
      written.set(wanted.address, paths);
      remember(id, paths);
      const earlier = memory.written.get(wasManaged.get(id) ?? '');
      for (const [path, source] of secretsOf(wanted)) {
        const key = `${id} ${path}`;
        const now = valueAt(record, path);
        const value = secretValue(source, stage.secrets);
        const isWritten = valueAt(before[wanted.section][id], path) !== now;
        const isNew = earlier !== undefined && !earlier.has(path) && memory.isCertain;
        lost.delete(key);
        if (!isWritten && !isNew && !secrets.has(key)) continue;
        // A change that is held writes nothing.
        if (now !== value && (!isOfNow || held.has(wanted.address))) continue;
        if (now !== value)
          fail(
            'secret not written',
            `${wanted.address} ${path} is ${show(now)}, not ${show(value)}`,
          );
        secrets.set(key, { source, value });
      }
    }
    const bound = new Set([...managed.values()].map(({ id }) => id));
    for (const id of bound) letGo.delete(id);
    for (const [address, one] of settled.managed) {
      if (forgotten.includes(address) && !bound.has(one.id)) {
        letGo.add(one.id);
        // Taken over again, its secrets are of nobody's writing.
        for (const key of secrets.keys())
          if (key.startsWith(`${one.id} `) && !key.endsWith(' text')) secrets.delete(key);
        for (const key of lost) if (key.startsWith(`${one.id} `)) lost.delete(key);
      }
      if (bound.has(one.id) || forgotten.includes(address)) continue;
      if (after[one.section][one.id] !== undefined) {
        managed.set(address, one);
        written.set(address, new Set(memory.written.get(address)));
      }
    }
    for (const id of bound) mayBeNobodys.delete(id);
    const isCertain = [...managed.values()].every(({ id }) => !mayBeNobodys.has(id));
    return { managed, written, secrets, lost, stored: memory.stored, isCertain };
  };

  /** What was made by a run of these files is of the address that it was made for, however the run ended. */
  const withMade = (all: readonly Wanted[], memory: Memory, before: Live, after: Live): Memory => {
    const managed = new Map(memory.managed);
    const secrets = new Map(memory.secrets);
    for (const [id, { text }] of Object.entries(after.sources))
      if (typeof text === 'string' && text !== before.sources[id]?.text)
        secrets.set(`${id} text`, { source: '', value: text });
    for (const { address, section, name, organization } of all) {
      const made = Object.entries(after[section]).find(
        ([id, one]) =>
          before[section][id] === undefined &&
          one.name === name &&
          (section !== 'agents' || one.organization_id === organization),
      );
      if (made === undefined) continue;
      const old = memory.managed.get(address);
      managed.set(address, { section, id: made[0] });
      // What it replaces waits to be deleted; documents cannot be.
      if (section === 'agents' && old !== undefined && after.agents[old.id] !== undefined)
        managed.set(`${address}.replaced`, old);
    }
    return { ...memory, managed, secrets };
  };

  /** What is known after a run of these files that did not end well: of secrets that moved, nothing. */
  const unsettled = (all: readonly Wanted[], memory: Memory, before: Live, after: Live): Memory => {
    const moved = allChanges(before, after);
    const isMoved = (key: string) => moved.some(({ id, path }) => key === `${id} ${path}`);
    const settled = withMade(all, memory, before, after);
    return {
      ...settled,
      secrets: new Map(
        [...settled.secrets].filter(([key]) => key.endsWith(' text') || !isMoved(key)),
      ),
      isCertain: false,
    };
  };

  const hasEqualDocuments = () => {
    const texts = Object.values(files.sources);
    return new Set(texts).size < texts.length;
  };

  /** The plan must be empty exactly when live is what the files say. */
  const check = async (environment: Environment, name: string) => {
    const all = wantedIn(files, environment);
    const live = stage.live();
    const { reasons, open } = expectPlan(
      all,
      files.forget,
      live,
      memories[environment],
      stage.secrets,
    );
    tell(`expects ${reasons.length > 0 ? 'changes' : open?.size === 0 ? 'none' : 'either'}`);
    for (const refresh of ['full', 'fast'] as const) {
      const said = await stage.run((to) =>
        plan({ ...flagsOf(environment), refresh, calls: false }, to),
      );
      const why = `after ${name}, ${refresh}`;
      if (/This is a bug in Callsheet|Please report/i.test(said.err + said.out))
        fail('bug', `${why}\n${said.err}`);
      if (hasEqualDocuments()) {
        if (said.exit !== 1) fail('equal documents', `${why}: exit ${said.exit}`);
        continue;
      }
      if (said.exit !== 0 && said.exit !== 4)
        fail('plan fails', `${why}: exit ${said.exit}\n${said.err}`);
      const { changes, notes }: { readonly changes: readonly Shown[]; readonly notes: Value } =
        JSON.parse(said.out);
      planned[environment] = JSON.stringify([
        notes,
        changes.map(({ fields, secrets }) => [fields?.map(({ path }) => path), secrets]),
      ]);
      const writing = changes.filter(({ action }) =>
        ['create', 'update', 'replace', 'delete'].includes(action),
      );
      tell(
        `${refresh}: ${writing.map(({ action, address }) => `${action} ${address}`)}\n${said.err}`,
      );
      const shown = new Set(writing.map(({ address }) => address));
      const missing = reasons.filter(({ address }) => !shown.has(address));
      if (missing.length > 0)
        fail('plan is empty', `${why}:\n${tellReasons(missing)}\n${said.err}`);
      const meant = open && new Set([...open, ...reasons.map(({ address }) => address)]);
      const surplus = writing.filter(({ address }) => meant?.has(address) === false);
      if (surplus.length > 0)
        fail('plan is not empty', `${why}:\n${JSON.stringify(surplus).slice(0, 1500)}`);
    }
  };

  /** What two ways of the same apply leave must be equal, but for what is another in every run. */
  const seenFrom = async (exit: number | null, isFirst: boolean) => {
    const live = stage.live();
    const names = new Map<string, string>();
    for (const [section, all] of Object.entries(live))
      for (const [id, one] of Object.entries(all))
        names.set(id, `${section} ${one.name} ${one.organization_id}`);
    const { out } = await stage.run((to) => state.pull(json, to));
    const remembered: Value = out === '' ? null : JSON.parse(out);
    const view = (value: Value): Value => {
      if (typeof value === 'string') return names.get(value) ?? value;
      if (Array.isArray(value)) return value.map(view);
      if (!isFields(value)) return value;
      return Object.fromEntries(
        Object.entries(value)
          .filter(([name]) => !ANEW.has(name))
          .map(([name, one]) => [
            names.get(name) ?? name,
            // A state that is begun has a salt of its own.
            name === 'pin' || (isFirst && name === 'fingerprint') ? one !== null : view(one),
          ]),
      );
    };
    return { exit, live: view(live as unknown as Value), state: view(remembered) };
  };

  const applyAll = async (one: Extract<Command, { do: 'apply' }>) => {
    const {
      environment = 'default',
      allowDelete = false,
      acceptConflicts = false,
      releaseHold = false,
      rollbackOnFailure = false,
      dies = null,
      fault = null,
    } = one;
    const flags = {
      ...flagsOf(environment),
      allowDelete,
      deleteUsed: allowDelete,
      acceptConflicts,
      releaseHold,
    };
    // Edits are looked at in the other environment alone.
    if (environment !== 'default') await check(environment, 'the edits before');
    const memory = memories[environment];
    const all = wantedIn(files, environment);
    const isPlain = dies === null && fault === null;
    const isFirst = memory.managed.size === 0;
    const doIt = (to: Parameters<typeof apply>[2]) =>
      apply(undefined, { ...flags, autoApprove: true, rollbackOnFailure }, to);
    let other: Awaited<ReturnType<typeof seenFrom>> | undefined;
    let said: Said | undefined;
    if (one.isCompared === true && isPlain && environment === 'default') {
      const copy = stage.copy();
      number += 1;
      const out = join(folder, `.compared-${number}.json`);
      await stage.run((to) => plan({ ...flags, out, calls: false }, to));
      said = await stage.run((to) => apply(out, { ...json, rollbackOnFailure }, to));
      other = await seenFrom(said.exit, isFirst);
      stage.putBack(copy);
    }
    const { exit, out, err, before, after, writes } = await run('apply', doIt, {
      environment,
      dies,
      fault,
      allowed: (changed, before, after) =>
        allowedBy(all, memory, allowDelete)(changed, before, after) || rollbackOnFailure,
      mayLose: (id) => isGiven(id, all, memory, allowDelete),
    });
    const told = { ...memory, stored: withStored(memory.stored, out) };
    const settled = withMade(all, told, before, after);
    rememberAll(all, after, settled);
    const held = heldIn(out);
    const back = /Run (\S+) is rolled back;.* Nothing else was applied/.exec(err)?.[1];
    if (back !== undefined && paid.has(back)) fail('owed again', `run ${back}\n${err}`);
    if (back !== undefined) paid.add(back);
    if (exit === 0) {
      if (!hasEqualDocuments()) {
        const wrong = differences(
          all.filter(({ address }) => !held.has(address)),
          after,
          settled,
        );
        if (wrong.length > 0)
          fail('not applied', `exit 0, and\n${tellReasons(wrong)}\n${err}${out.slice(0, 1000)}`);
        checkCarried(all, memory, before, after, planned[environment] + err + out);
        checkVoices(all, memory, before, after);
      }
      memories[environment] = applied(all, files.forget, told, before, after, { held });
      if (held.size > 0) memories[environment] = { ...memories[environment], isCertain: false };
      if (environment === 'default') appliedFiles = [...appliedFiles, files];
    } else if (writes > 0 || exit === null) {
      for (const [id] of bindLive(all, before, memory).values()) takenOver.add(id);
      memories[environment] = unsettled(all, memory, before, after);
    }
    const mayUndo = rollbackOnFailure && !memory.isCertain;
    const isRight = exit === 0 || exit === 4 || (exit === 1 && hasEqualDocuments());
    const refused = refusedOf(all, settled, after);
    const isRefused = exit === 3 && failedIn(out).every((address) => refused.has(address));
    if (isPlain && !mayUndo && !isRight && !isRefused)
      fail('apply fails', `exit ${exit}\n${err}${out.slice(0, 2500)}`);
    if (exit === 4) checkConflict(all, memory, before, out);
    if (other !== undefined) {
      const plain = await seenFrom(exit, isFirst);
      if (!isDeepStrictEqual(plain, other))
        fail(
          'two ways',
          `plain and plan file differ\n${firstDifferences(plain, other)}\n${said?.err}`,
        );
    }
  };

  /** Whether a record that is gone was to go, or its secrets were. */
  const isGiven = (id: string, all: readonly Wanted[], memory: Memory, allowDelete: boolean) => {
    const wanted = [...bindLive(all, stage.live(), memory).values()];
    return allowDelete && !wanted.some(([one]) => one === id);
  };

  /** A resource that was made anew keeps what nobody owns, or it is said. */
  const checkCarried = (
    all: readonly Wanted[],
    memory: Memory,
    before: Live,
    after: Live,
    text: string,
  ) => {
    const found = bindLive(all, after, memory);
    for (const wanted of all.filter(({ section }) => section === 'agents')) {
      const known = memory.managed.get(wanted.address)?.id ?? '';
      const [then, now] = [before.agents[known], found.get(wanted.address)?.[1]];
      if (then === undefined || after.agents[known] !== undefined || now === undefined) continue;
      const desired = [...leavesOf(wanted.fields).keys()];
      for (const [path, value] of leavesOf(then)) {
        const isOwn = desired.some((one) => touches(one, path));
        const wasOwn = [...(memory.written.get(wanted.address) ?? [])].some((one) =>
          touches(one, path),
        );
        const isTheirs =
          !isOwn && !wasOwn && !/^(id|organization_id|payments|default_retry|x_)/.test(path);
        if (/_at$|^place/.test(path) || !isTheirs || isNothing(value)) continue;
        const isSaid = path
          .split('.')
          .some((part) => part !== 'integrations' && text.includes(part));
        if (!isSame(valueAt(now, path), value) && !isSaid)
          fail('not carried', `${wanted.address} ${path} was ${show(value)}`);
      }
    }
  };

  /** A cloned voice brings its language along where the files name none (Custom voices). */
  const checkVoices = (all: readonly Wanted[], memory: Memory, before: Live, after: Live) => {
    if (sim.dialect.voiceLanguage !== 'stored') return;
    const found = bindLive(all, after, memory);
    for (const wanted of all) {
      const [id = '', record] = found.get(wanted.address) ?? [];
      const [voice, language] = ['voice_id', 'language'].map((name) =>
        valueAt(record, `voice_settings.${name}`),
      );
      const isOwn = valueAt(wanted.fields, 'voice_settings.language') !== undefined;
      const has = after.voices[String(voice)]?.language;
      const was = valueAt(before.agents[id], 'voice_settings.voice_id');
      if (isOwn || has === undefined || was === voice || language === has) continue;
      fail('voice', `${wanted.address} speaks ${show(language)}, and its voice ${show(has)}`);
    }
  };

  /**
   * Agents that the platform does not make what the files say: it takes the language from the voice, or no payments
   * without a provider that has all that a text message needs.
   */
  const refusedOf = (all: readonly Wanted[], memory: Memory, live: Live) => {
    const found = bindLive(all, live, memory);
    const refused = all.filter(({ address, fields }) => {
      const record = found.get(address)?.[1];
      const voice = live.voices[String(valueAt(record, 'voice_settings.voice_id'))];
      const language = valueAt(fields, 'voice_settings.language');
      const isImposed =
        sim.dialect.voiceLanguage === 'imposed' &&
        language !== undefined &&
        voice !== undefined &&
        !isSame(voice.language, language);
      const isPaid = valueAt(fields, 'payments.tool_enabled') === true;
      const cannotText = ['account_sid', 'fromNumber'].some((name) =>
        isNothing(valueAt(record, `integrations.smsProvider.${name}`)),
      );
      return isImposed || (isPaid && cannotText);
    });
    return new Set(refused.map(({ address }) => address));
  };

  /** A conflict is one where the files do not contain what is live. */
  const checkConflict = (all: readonly Wanted[], memory: Memory, live: Live, out: string) => {
    const ledger: readonly { readonly address: string; readonly message?: string | null }[] =
      JSON.parse(out).ledger ?? [];
    const lines = (text: Value | undefined) => String(text).split('\n').filter(Boolean);
    for (const { address, message } of ledger) {
      if (!/the configuration and the platform both changed/.test(message ?? '')) continue;
      const wanted = all.find((one) => one.address === address);
      if (wanted === undefined) continue;
      const [, record] = bindLive(all, live, memory).get(wanted.address) ?? [];
      const leaves = leavesOf(wanted.fields);
      // What the files let go of would be taken away, with what was made of it since.
      const isLetGo = [...(memory.written.get(address) ?? [])].some(
        (path) => !leaves.has(path) && !isNothing(valueAt(record, path)),
      );
      if (isLetGo) continue;
      const isLost = [...leaves].some(([path, value]) => {
        const now = valueAt(record, path);
        if (isFields(value)) return false;
        const isContained =
          path === 'system_prompt' && lines(now).every((line) => lines(value).includes(line));
        return !isSame(now, value) && !isContained;
      });
      if (!isLost)
        fail('conflict', `${address}: the files have all that is live\n${out.slice(0, 800)}`);
    }
  };

  const rollBack = async (one: Extract<Command, { do: 'rollback' }>) => {
    const { back = 0, undoEdited = false, dies = null, fault = null } = one;
    const memory = memories.default;
    const earlier = runs;
    const last = runs.findLast(({ isIdle }) => !isIdle);
    const target = back > 0 ? runs.at(-1 - back) : (last?.undoes ?? last);
    if (back > 0 && target === undefined) return;
    const flags = { ...json, undoEdited, ...(back > 0 ? { run: target?.id ?? '' } : {}) };
    const preview = await run(
      'rollback --dry-run',
      (to) => rollback({ ...flags, dryRun: true, calls: false }, to),
      noWrite,
    );
    const { exit, out, err, before, after, writes } = await run(
      'rollback',
      (to) => rollback({ ...flags, autoApprove: true }, to),
      {
        dies,
        fault,
        preview: preview.out,
        allowed: ({ id, path, is, section }, before, after) =>
          is === 'made' ||
          (is === 'gone' && (madeByUs.has(id) || section !== 'agents')) ||
          section === 'sources' ||
          (!letGo.has(id) &&
            [...(everOwned.get(id) ?? [])].some((own) => touches(own, path ?? ''))) ||
          byItself(section, id, path ?? '', before, after),
        mayLose: (id) => stage.live().agents[id] === undefined,
      },
    );
    // One that was interrupted is gone on with first.
    const continued = /rollback of run (\S+)\./.exec(err)?.[1];
    const undoneRun = continued === undefined ? target : earlier.find(({ id }) => id === continued);
    if (exit === null && runs.length > earlier.length)
      runs = [...earlier, ...runs.slice(-1).map((one) => ({ ...one, undoes: undoneRun }))];
    if (exit === 0 && undoneRun !== undefined && dies === null && writes > 0)
      checkUndone(undoneRun, before, after, out + err);
    if (exit === null || fault !== null) {
      if (writes > 0 || exit === null) {
        const known = unsettled(wantedIn(files, 'default'), memory, before, after);
        const managed = new Map(known.managed);
        for (const [address, made] of madeAgain(undoneRun, before, after)) {
          const old = managed.get(address);
          managed.set(address, made);
          if (old !== undefined && old.id !== made.id && after[old.section][old.id] !== undefined)
            managed.set(`${address}.replaced`, old);
        }
        memories.default = { ...known, managed, written: ownedAgain(managed, known) };
        for (const id of takenOverBy(undoneRun)) mayBeNobodys.add(id);
      }
      return;
    }
    if (exit !== 0 && exit !== 3 && exit !== 4 && exit !== 1 && exit !== 5)
      fail('rollback fails', `exit ${exit}\n${err}`);
    if (writes > 0) memories.default = undone(memory, before, after, undoneRun);
  };

  /** What a run deleted and its rollback made again is managed again, under a new id. */
  const madeAgain = (run: Run | undefined, before: Live, after: Live) =>
    [...(run?.managed ?? [])].flatMap(([address, { section, id }]) => {
      const name = run?.before[section][id]?.name;
      if (name === undefined || before[section][id] !== undefined) return [];
      const made = Object.entries(after[section]).find(
        ([other, one]) => before[section][other] === undefined && one.name === name,
      );
      // It is owned as what it was before is.
      if (made !== undefined) remember(made[0], everOwned.get(id) ?? []);
      return made === undefined ? [] : [[address, { section, id: made[0] }] as const];
    });

  /** Ids of what a run took over and changed. */
  const takenOverBy = (run: Run | undefined): ReadonlySet<string> => {
    if (run === undefined) return new Set();
    const wasManaged = new Set([...run.managed.values()].map(({ id }) => id));
    const touched = allChanges(run.before, run.after).filter(
      ({ section, id }) => run.before[section][id] !== undefined && !wasManaged.has(id),
    );
    return new Set(touched.map(({ id }) => id));
  };

  /** Paths by address: what a run had let go of may be owned again once it is undone. */
  const ownedAgain = (managed: Memory['managed'], { written }: Memory): Memory['written'] =>
    new Map(
      [...managed].map(([address, { id }]) => [
        address,
        new Set([...(written.get(address) ?? []), ...(everOwned.get(id) ?? [])]),
      ]),
    );

  /** What the state remembers after a rollback: what is gone is gone, and what lost its secret lacks it. */
  const undone = (memory: Memory, before: Live, after: Live, run: Run | undefined): Memory => {
    const lost = new Set(memory.lost);
    const managed = new Map(memory.managed);
    // What the run took over and changed is nobody's again.
    const own = takenOverBy(run);
    for (const [address, { id }] of memory.managed) if (own.has(id)) managed.delete(address);
    for (const [address, made] of madeAgain(run, before, after))
      if (!managed.has(address)) managed.set(address, made);
    const written = ownedAgain(managed, memory);
    for (const [address, { section, id }] of managed)
      if (after[section][id] === undefined) {
        managed.delete(address);
        const [again] =
          Object.entries(after[section]).find(
            ([other, one]) =>
              before[section][other] === undefined && one.name === before[section][id]?.name,
          ) ?? [];
        if (again !== undefined) managed.set(address, { section, id: again });
      }
    for (const [key, { value }] of memory.secrets) {
      const [id = '', path = ''] = key.split(' ');
      const record = after.agents[id];
      if (record !== undefined && valueAt(record, path) !== value) lost.add(key);
    }
    const isMade = allChanges(before, after).some(({ is }) => is === 'made');
    return { ...memory, managed, written, lost, isCertain: memory.isCertain && !isMade };
  };

  /** A rollback that says that all is as before: it is. */
  const checkUndone = (target: Run, before: Live, after: Live, text: string) => {
    for (const { section, id, path, is } of allChanges(target.before, target.after)) {
      if (section !== 'agents' || is !== 'changed' || path === undefined) continue;
      const [then, done] = [target.before, target.after].map((at) =>
        valueAt(at[section][id], path),
      );
      if (after[section][id] === undefined || path === 'default_retry_policy_id') continue;
      const now = valueAt(after[section][id], path);
      if (!isSame(valueAt(before[section][id], path), done) || isSame(now, then)) continue;
      // Limits have no way back to none, and do not matter while the tool is off.
      if (path.startsWith('payments.') && isNothing(then) && isSame(now, done)) continue;
      fail(
        'not undone',
        `exit 0, and ${show(after[section][id]?.name)} ${path} is ${show(now)}, it was ${show(then)}\n${text.slice(0, 1500)}`,
      );
    }
  };

  /** The agent of a key, live. */
  const agentNamed = (name: string) =>
    Object.entries(stage.live().agents).find(([, one]) => one.name === name)?.[0];

  const perform = async (one: Command): Promise<Environment | undefined> => {
    number += 1;
    switch (one.do) {
      case 'edit':
      case 'add':
      case 'remove':
      case 'rename':
      case 'prompt':
      case 'document':
      case 'policy':
      case 'let go': {
        const next = editFiles(files, one, number);
        if (next === undefined) return undefined;
        save(next);
        return 'default';
      }
      case 'undo edits': {
        const earlier = appliedFiles.at(-2);
        if (earlier === undefined) return undefined;
        appliedFiles = appliedFiles.slice(0, -1);
        save(earlier);
        return 'default';
      }
      case 'plan': {
        const out = join(folder, `.kept-${number}.json`);
        const { allowDelete = false } = one;
        const said = await run(
          'plan',
          (to) => plan({ ...json, allowDelete, deleteUsed: allowDelete, calls: false, out }, to),
          noWrite,
        );
        if (one.isKept === true && said.exit === 0)
          kept = {
            file: out,
            changes: JSON.parse(said.out).changes,
            wanted: wantedIn(files, 'default'),
            files,
            live: stage.live(),
            memory: memories.default,
            lineage,
          };
        return undefined;
      }
      case 'apply kept':
        if (kept === undefined) return undefined;
        await applyKept(kept);
        kept = undefined;
        return 'default';
      case 'apply':
        await applyAll(one);
        return one.environment ?? 'default';
      case 'apply elsewhere': {
        // One state for two environments: whoever comes second is refused.
        if (memories.default.managed.size === 0 || !memories.default.isCertain) return undefined;
        if (
          wantedIn(files, 'staging').every(({ section }) => section === 'sources') ||
          hasEqualDocuments()
        )
          return undefined;
        const { exit, writes, err } = await run(
          'apply elsewhere',
          (to) => apply(undefined, { ...flagsOf('staging'), autoApprove: true }, to),
          {
            env: { CALLSHEET_STATE: join(folder, '.callsheet/state.json') },
            allowed: () => true,
          },
        );
        if (exit !== 4 || writes > 0)
          fail('owner', `the state of another environment: exit ${exit}, ${writes} writes\n${err}`);
        return 'default';
      }
      case 'drift': {
        const memory = memories.default;
        const said = await run(
          'drift',
          (to) => drift({ ...json, detailedExitcode: true }, to),
          noWrite,
        );
        const all = wantedIn(files, 'default');
        const found = bindLive(all, stage.live(), memory);
        const gone = all.filter(
          ({ section, address }) => section !== 'sources' && !found.has(address),
        );
        const isKnownGone = gone.filter(
          ({ address }) => memory.managed.has(address) || memory === NO_MEMORY,
        );
        if (said.exit === 0 && isKnownGone.length > 0 && memory.isCertain)
          fail(
            'drift',
            `no drift, and ${isKnownGone.map(({ address }) => address)} is not there\n${said.out.slice(0, 600)}`,
          );
        return undefined;
      }
      case 'pull': {
        const said = await run(
          'pull',
          (to) => pull([], { ...json, allowDirty: true }, to),
          noWrite,
        );
        files = readFiles(folder);
        if (said.exit === 1 && !hasEqualDocuments() && Object.keys(files.agents).length > 0)
          fail('pull fails', said.err);
        return 'default';
      }
      case 'rollback':
        if (runs.length === 0) return undefined;
        await rollBack(one);
        return 'default';
      case 'state mv': {
        const [from, to] = [`agent.${one.from}`, `agent.${one.to}`];
        const { exit } = await run(
          'state mv',
          (context) => state.mv([from, to], json, context),
          noWrite,
        );
        if (exit !== 0) return undefined;
        const memory = memories.default;
        const entry = memory.managed.get(from);
        const managed = new Map(memory.managed);
        const written = new Map(memory.written);
        managed.delete(from);
        if (entry !== undefined) managed.set(to, entry);
        const paths = written.get(from);
        written.delete(from);
        if (paths !== undefined) written.set(to, paths);
        const secrets = new Map(
          [...memory.secrets].filter(([key]) => !key.startsWith(`${entry?.id} `)),
        );
        memories.default = { ...memory, managed, written, secrets, isCertain: false };
        return 'default';
      }
      case 'state rm': {
        const address = `agent.${one.agent}`;
        const { exit } = await run(
          'state rm',
          (to) => state.rm([address], { ...json, forgetProtected: true }, to),
          noWrite,
        );
        if (exit !== 0) return undefined;
        const memory = memories.default;
        const id = memory.managed.get(address)?.id;
        if (id !== undefined) letGo.add(id);
        const without = <T>(map: ReadonlyMap<string, T>) =>
          new Map([...map].filter(([key]) => key !== address));
        memories.default = {
          ...memory,
          managed: without(memory.managed),
          written: without(memory.written),
          secrets: new Map([...memory.secrets].filter(([key]) => !key.startsWith(`${id} `))),
          lost: new Set([...memory.lost].filter((key) => !key.startsWith(`${id} `))),
        };
        return 'default';
      }
      case 'import': {
        const { exit } = await run(
          'import',
          (to) => importCommand(undefined, undefined, { ...json, all: true }, to),
          noWrite,
        );
        if (exit !== 0 && exit !== 3) return 'default';
        const memory = memories.default;
        const all = wantedIn(files, 'default');
        const found = bindLive(all, stage.live(), memory);
        const bound = all.flatMap(({ address, section }) => {
          const [id] = found.get(address) ?? [];
          return id === undefined ? [] : [[address, { section, id }] as const];
        });
        const managed = new Map([...memory.managed, ...bound]);
        memories.default = { ...memory, managed, isCertain: false };
        return 'default';
      }
      case 'migrate': {
        const moved = await run(
          'migrate',
          (to) =>
            state.migrate({ ...json, to: join(folder, `.moved-${number}`, 'state.json') }, to),
          noWrite,
        );
        if (moved.exit !== 0) return undefined;
        const { exit } = await run('repair', (to) => state.repair(json, to), noWrite);
        if (exit === 0) fail('moved state', 'a state that was moved is repaired where it was');
        // The stack goes on with what is left behind: as if there were none.
        stage.forgetState();
        takenOver.clear();
        lineage += 1;
        memories.default = NO_MEMORY;
        runs = [];
        return 'default';
      }
      case 'snapshot': {
        const file = join(folder, `.snapshot-${number}.json`);
        const { exit } = await run('snapshot', (to) => create({ ...json, out: file }, to), noWrite);
        if (exit === 0) snapshot = { file, live: stage.live() };
        return undefined;
      }
      case 'restore':
      case 'rollback to': {
        if (snapshot === undefined) return undefined;
        const { file, live } = snapshot;
        const flags = { ...json, to: file, allowDelete: false };
        const preview =
          one.do === 'restore'
            ? undefined
            : await run(
                'rollback --dry-run',
                (to) => rollback({ ...flags, dryRun: true, calls: false }, to),
                noWrite,
              );
        const { before, after, writes } = await run(
          one.do,
          (to) =>
            one.do === 'restore'
              ? restore(file, { ...dir, format: 'text', over: true, autoApprove: true }, to)
              : rollback({ ...flags, autoApprove: true }, to),
          {
            preview: preview?.out ?? '',
            allowed: ({ section, id, path, is }, _before, after) =>
              is === 'made' ||
              section === 'sources' ||
              (path !== undefined &&
                (isSame(valueAt(after[section][id], path), valueAt(live[section][id], path)) ||
                  /^(payments|voice_settings.language|default_retry_policy_id)/.test(path))),
          },
        );
        if (writes > 0)
          memories.default = unsettled(wantedIn(files, 'default'), memories.default, before, after);
        return 'default';
      }
      case 'dashboard': {
        const id = agentNamed(one.agent);
        if (id === undefined) return undefined;
        stage.advance(pace);
        sim.edit(id, one.patch as never);
        return 'default';
      }
      case 'dashboard prompt': {
        const id = agentNamed(one.agent);
        const text = stage.live().agents[id ?? '']?.system_prompt;
        if (id === undefined || typeof text !== 'string') return undefined;
        stage.advance(pace);
        sim.edit(id, { system_prompt: `${text.replace(/\n$/, '')}\nBy hand ${number}.\n` });
        return 'default';
      }
      case 'dashboard delete': {
        const id = agentNamed(one.agent);
        if (id === undefined) return undefined;
        sim.store.agents.delete(id);
        return 'default';
      }
      case 'counter': {
        for (const agent of sim.store.agents.values())
          agent.record = { ...agent.record, x_counter: number };
        return undefined;
      }
      case 'keep state':
        savedState = { copy: stage.copyState(), memory: memories.default };
        return undefined;
      case 'lose state':
        stage.forgetState();
        takenOver.clear();
        lineage += 1;
        memories.default = NO_MEMORY;
        memories.staging = NO_MEMORY;
        runs = [];
        return 'default';
      case 'bring state back':
        if (savedState === undefined) return undefined;
        stage.putStateBack(savedState.copy);
        paid.clear();
        takenOver.clear();
        memories.default = { ...savedState.memory, isCertain: false };
        memories.staging = { ...memories.staging, isCertain: false };
        runs = [];
        return 'default';
      case 'rotate':
        stage.secrets[one.secret] = `${one.secret.toLowerCase()}-${number}`;
        return 'default';
    }
  };

  /** A plan that was made before is carried out, unless something that it rests on moved. */
  const applyKept = async (one: Kept) => {
    const { file, changes, wanted: all, live, memory, files: then } = one;
    const now = memories.default;
    const { exit, out, err, before, after, writes } = await run(
      'apply kept',
      (to) => apply(file, json, to),
      {
        allowed: (changed, before, after) =>
          allowedBy(all, memory, true)(changed, before, after) || !now.isCertain,
        mayLose: () => true,
      },
    );
    rememberAll(all, after, memory);
    const touched = new Set(changes.map(({ address }) => address));
    const replaced = new Set(
      changes.filter(({ action }) => action === 'replace').map(({ address }) => address),
    );
    const remembered = (from: Memory) =>
      [...touched].map((address) => {
        const known = from.managed.get(address);
        const secrets = [...from.secrets].filter(([key]) => key.startsWith(`${known?.id} `));
        return [known, from.written.get(address), new Map(secrets)];
      });
    const idsIn = ({ policies, voices }: Live) => Object.keys({ ...policies, ...voices });
    const [wantedThen, wantedNow] = [all, wantedIn(files, 'default')].map(
      (wanted) => new Map(wanted.map((one) => [one.address, one])),
    );
    const hasMoved =
      one.lineage !== lineage ||
      [...touched].some(
        (address) => !isDeepStrictEqual(wantedThen?.get(address), wantedNow?.get(address)),
      ) ||
      !isDeepStrictEqual(remembered(now), remembered(memory)) ||
      !isDeepStrictEqual(idsIn(live), idsIn(before)) ||
      all.some((one) => {
        if (!touched.has(one.address)) return false;
        const [was, is] = [live, before].map((at) => bindLive(all, at, memory).get(one.address));
        if (was?.[0] !== is?.[0]) return true;
        const own = [...leavesOf(one.fields).keys(), ...(memory.written.get(one.address) ?? [])];
        const moved = changesOf(was?.[1] ?? {}, is?.[1] ?? {});
        // A replacement takes along what the files do not name.
        if (replaced.has(one.address)) return moved.length > 0;
        return moved.some((path) =>
          // Objects are sent whole.
          own.some((leaf) => touches(leaf.split('.')[0] ?? '', path.split('.')[0] ?? '')),
        );
      }) ||
      [...touched].some((address) => {
        const entry = memory.managed.get(address);
        return entry !== undefined && before[entry.section][entry.id] === undefined;
      });
    if (exit === 5 && !hasMoved && now.isCertain)
      fail('stale', `nothing that the plan rests on moved\n${err}${out.slice(0, 1000)}`);
    if (out.trim() === '' && err.trim() === '') fail('says nothing', 'apply kept');
    // What is only taken over is written to the state alone.
    if (exit === 0 && (writes > 0 || now === memory)) {
      memories.default = applied(all, then.forget, now, before, after, { isOfNow: false });
      if (now !== memory) memories.default = { ...memories.default, isCertain: false };
      appliedFiles = [...appliedFiles, then];
    } else if (writes > 0) memories.default = unsettled(all, now, before, after);
    else if (exit === 0) memories.default = { ...now, isCertain: now.isCertain && now === memory };
  };

  try {
    save(files);
    for (const [at, one] of commands.entries()) {
      if (one === null) continue;
      const name = `${at} ${JSON.stringify(one)}`;
      tell(`== ${name}`);
      try {
        const environment = await perform(one);
        if (environment !== undefined) await check(environment, one.do);
      } catch (error) {
        if (!(error instanceof Broken)) throw error;
        throw new Broken(error.rule, `${name}\n${error.message}\n\n${told.join('\n')}`);
      }
    }
  } finally {
    await stage.close();
  }
}

/** What is another in every run. */
const ANEW = new Set([
  ...[
    'serial',
    'lineage',
    'run',
    'id',
    'updated_at',
    'created_at',
    'history_id',
    'at',
    'asked_at',
    'digest',
  ],
  ...['last_synced_at', 'time', 'x_counter', 'checksum', 'salt', 'last_run', 'seal'],
]);

function runIn(out: string): string | undefined {
  try {
    const { run } = JSON.parse(out);
    return typeof run === 'string' ? run : undefined;
  } catch {
    return undefined;
  }
}

function tellReasons(reasons: readonly Reason[]): string {
  return reasons.map(({ address, why }) => `${address} ${why}`).join('\n');
}

/** Paths of what a rollback says that it did not put back. */
function leftIn(out: string): readonly string[] {
  if (runIn(out) === undefined) return [];
  const left: readonly { readonly path: string }[] = JSON.parse(out).verification?.left ?? [];
  return left.map(({ path }) => path);
}

type Line = {
  readonly id?: string | null;
  readonly stored?: readonly {
    readonly path: string;
    readonly sent: Value;
    readonly returned: Value;
  }[];
  readonly address: string;
  readonly verdict?: string;
  readonly action: string;
  readonly status: string;
};

function ledgerIn(out: string): readonly Line[] {
  return out === '' ? [] : (JSON.parse(out).ledger ?? []);
}

/** With what a run says that the platform stored in the place of what was sent. */
function withStored(known: Memory['stored'], out: string): Memory['stored'] {
  const found = ledgerIn(out).flatMap(({ id, stored = [] }) =>
    stored.map(({ path, sent, returned }) => [`${id} ${path}`, { sent, returned }] as const),
  );
  return new Map([...known, ...found]);
}

/** Addresses whose change waits for leave. */
function heldIn(out: string): ReadonlySet<string> {
  const held = ledgerIn(out).filter(
    ({ verdict, action }) => verdict === 'held' && action !== 'delete',
  );
  return new Set(held.map(({ address }) => address));
}

/** Addresses whose change did not end well. */
function failedIn(out: string): readonly string[] {
  const failed = ledgerIn(out).filter(
    ({ verdict, status }) => verdict !== 'held' && status !== 'done',
  );
  return failed.map(({ address }) => address);
}

function firstDifferences(a: object, b: object): string {
  const [one, other] = [a, b].map((value) => leavesOf(value as Fields));
  return [...new Set([...(one?.keys() ?? []), ...(other?.keys() ?? [])])]
    .filter((path) => !isDeepStrictEqual(one?.get(path), other?.get(path)))
    .slice(0, 12)
    .map((path) => `${path}: plain ${show(one?.get(path))}, plan file ${show(other?.get(path))}`)
    .join('\n');
}
