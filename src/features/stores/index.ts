import type { Feature } from '../../feature.ts';
import type { StoreScheme } from '../../state/open.ts';
import type { PlaceOf } from './open.ts';

const http: StoreScheme<PlaceOf<'http'>> = {
  has: (place) => 'http' in place,
  open: async (...given) => (await import('./open.ts')).openHttp(...given),
};

const postgres: StoreScheme<PlaceOf<'postgres'>> = {
  has: (place) => 'postgres' in place,
  open: async (...given) => (await import('./open.ts')).openPostgres(...given),
};

const s3: StoreScheme<PlaceOf<'s3'>> = {
  has: (place) => 's3' in place,
  open: async (...given) => (await import('./open.ts')).openS3(...given),
};

/** Keeps states where other machines reach them: at a server that speaks HTTP, in PostgreSQL, in a bucket. */
export const stores: Feature = { name: 'stores', stores: [http, postgres, s3] };
