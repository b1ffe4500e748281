import { type NamedBy, Origin } from '../../core/origin.ts';
import { placeAddress, type StatePlace } from '../../core/stores.ts';
import { realEffects } from '../../state/lock.ts';
import type { StoreWorld } from '../../state/open.ts';
import type { StateStore } from '../../state/store.ts';
import { openRetries, timeoutFrom, trafficFrom } from './remote/failures.ts';
import { openRemoteStore } from './remote/store.ts';

/** Names of the members that say which store a place is in. */
type StoreName = 'http' | 'postgres' | 's3';
export type PlaceOf<Name extends StoreName> = Extract<StatePlace, Readonly<Record<Name, unknown>>>;

/** Opens the store of a place at a server that speaks HTTP. */
export async function openHttp(place: PlaceOf<'http'>, world: StoreWorld): Promise<StateStore> {
  const { effects, timeout, retries, admit } = prepare(place.by, world);
  const [{ documentRemote }, { listAddresses, httpPlace }, { openExchange }] = await Promise.all([
    import('./remote/document.ts'),
    import('./http/store.ts'),
    import('./remote/exchange.ts'),
  ]);
  const credentials = {
    username: world.env.CALLSHEET_STATE_USERNAME,
    password: world.env.CALLSHEET_STATE_PASSWORD,
  };
  // One after the other: a person is asked one thing at a time.
  const origins: Origin[] = [];
  for (const [index, url] of listAddresses(place.http).entries())
    origins.push(await admit(url, index === 0 ? place.by : place.lock_by));
  const exchange = openExchange(timeout, origins);
  const most = trafficFrom(world.env);
  const http = httpPlace(place.http, credentials, exchange, effects, retries, most);
  return openRemoteStore(documentRemote(http, world.seals), effects);
}

/** Opens the store of a place in a database. */
export async function openPostgres(
  place: PlaceOf<'postgres'>,
  world: StoreWorld,
): Promise<StateStore> {
  const { effects, timeout, retries, admit } = prepare(place.by, world);
  const [{ postgresRemote }, { openDatabase }] = await Promise.all([
    import('./postgres/store.ts'),
    import('./postgres/database.ts'),
  ]);
  const { url, stack } = place.postgres;
  const database = await openDatabase(await admit(url), world.env, timeout);
  const remote = postgresRemote(database, stack, placeAddress(place), retries, world.seals);
  return openRemoteStore(remote, effects);
}

/** Opens the store of a place in a bucket. */
export async function openS3(place: PlaceOf<'s3'>, world: StoreWorld): Promise<StateStore> {
  const { effects, timeout, retries, admit } = prepare(place.by, world);
  const [{ documentRemote }, { isAmazon, getRoot, s3Place }, { openExchange }, aws] =
    await Promise.all([
      import('./remote/document.ts'),
      import('./s3/store.ts'),
      import('./remote/exchange.ts'),
      import('./s3/credentials.ts'),
    ]);
  const { env } = world;
  const region = place.s3.region ?? (await aws.findRegion(env)) ?? 'us-east-1';
  const root = getRoot(place.s3, region);
  // Amazon is who the credentials are for, and a signature says nothing of the key.
  const origin = isAmazon(root) ? Origin.given(root) : await admit(root);
  const exchange = openExchange(timeout, [origin]);
  const location = placeAddress(place);
  const credentials = aws.openAwsCredentials({ env, location, region, timeout, effects });
  const s3 = s3Place(place.s3, credentials, exchange, retries, region);
  return openRemoteStore(documentRemote(s3, world.seals), effects);
}

/** Every store is opened with these. */
function prepare(namedBy: NamedBy, { env, admit, warn }: StoreWorld) {
  const effects = realEffects();
  const timeout = timeoutFrom(env);
  return {
    effects,
    timeout,
    retries: openRetries(timeout, effects, warn),
    admit: (url: string, by: NamedBy = namedBy) => admit({ url, by, credentials: 'of the state' }),
  };
}
