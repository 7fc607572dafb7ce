// How many particles and pixels are drawn while the picture moves: as many as can be drawn in time.

/** A picture that takes longer is no motion any more; one that takes less leaves room for twice as many [ms]. */
const SLOW = 36, QUICK = 20;

/** After this time without motion all are drawn [ms]. */
export const REST = 300;

/** Fewest particles that are drawn, and the most of which one is drawn. */
const FEWEST = 15000, MOST_EVERY = 64;

/**
 * Chooses what is drawn while the picture moves: one particle in `every`, and `pixels`, the share of the
 * pixels along a side.
 */
export class Detail {
  constructor() {
    Object.assign(this, { every: 1, pixels: 1, took: [], until: -Infinity });
  }

  /** The picture moves. */
  moved(now) { this.until = now + REST; }

  isMoving(now) { return now < this.until; }

  /** A picture of motion took so long [ms]; `count` particles could be drawn. */
  measure(milliseconds, count) {
    this.took.push(milliseconds);
    const mean = this.took.reduce((sum, each) => sum + each, 0) / this.took.length;
    const limit = Math.max(1, Math.min(MOST_EVERY, 2 ** Math.floor(Math.log2(count / FEWEST))));
    if (this.took.length >= 4 && mean > SLOW) {
      // Where particles are few already, it is the pixels.
      if (this.every >= Math.min(4, limit)) this.pixels = 0.5;
      this.choose(Math.min(limit, this.every * 2 ** Math.ceil(Math.log2(mean / SLOW))));
    } else if (this.took.length >= 40) {
      if (mean < QUICK && this.every === 1) this.pixels = 1;
      this.choose(mean < QUICK ? Math.max(1, this.every / 2) : this.every);
    }
  }

  choose(every) {
    this.every = every;
    this.took = [];
  }
}
