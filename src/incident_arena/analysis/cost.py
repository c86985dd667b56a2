"""What trials cost, from a price list with a source and a date."""

import re
import tomllib
from dataclasses import dataclass
from datetime import date
from importlib import resources
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from incident_arena.errors import UserError

MILLION = 1_000_000
PRICED, REPORTED = "prices", "agent"
"""Where a cost is from: the price list, or the agent's own report."""
_SNAPSHOT = re.compile(r"[-@]20\d{2}-?\d{2}-?\d{2}$")


class Price(BaseModel):
    """US dollars per million tokens of one model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    aliases: tuple[str, ...] = ()
    provider: str
    input: float = Field(ge=0)
    cached: float = Field(ge=0)
    output: float = Field(ge=0)
    source: str


class Source(BaseModel):
    """Where prices are from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str
    date: date


class PriceList(BaseModel):
    """The price file. `cache_write` multiplies `input` by provider, and `other`; `developers` has their names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1]
    cache_write: dict[str, float]
    developers: dict[str, str] = Field(default_factory=dict)
    sources: dict[str, Source]
    models: tuple[Price, ...]

    def of(self, model: str) -> Price | None:
        """The price of a model; a provider in front and a snapshot's date behind don't matter."""
        plain = model.rpartition("/")[2].lower()
        for name in (plain, _SNAPSHOT.sub("", plain)):
            for price in self.models:
                if name == price.name or name in price.aliases:
                    return price
        return None

    def developer(self, price: Price) -> str:
        """Who made the model, as its name is written."""
        return self.developers.get(price.provider, price.provider)

    def write_factor(self, price: Price) -> float:
        """How much dearer input is that is written to a cache."""
        return self.cache_write.get(price.provider, self.cache_write["other"])


def load_prices(path: Path | None = None) -> PriceList:
    """Read a price file; the one that comes with this version when no path is given.

    Raises:
        UserError: the file is missing, or not a price file.
    """
    try:
        text = path.read_text() if path else resources.files(__package__).joinpath("data/prices.toml").read_text()
        return PriceList.model_validate(tomllib.loads(text))
    except (OSError, ValidationError, tomllib.TOMLDecodeError) as error:
        remedy = "docs/results.md shows its format"
        raise UserError(f"price list '{path or 'data/prices.toml'}'", str(error), remedy) from error


@dataclass(frozen=True)
class Tokens:
    """One trial's tokens. `input` counts cached reads and cache writes too."""

    input: int
    cached: int
    cache_writes: int
    output: int


def cost_of(tokens: Tokens, price: Price, write_factor: float) -> float:
    """US dollars of one trial.

    ((input - cached - writes) P_in + cached P_cached + writes f P_in + output P_out) / 10^6, f the cache write factor.

    Source: the paper's caption of table 2 for f; providers' price lists for the rest.
    """
    fresh = max(0, tokens.input - tokens.cached - tokens.cache_writes)
    write_price = write_factor * price.input
    parts = fresh * price.input + tokens.cached * price.cached + tokens.cache_writes * write_price
    return (parts + tokens.output * price.output) / MILLION


def with_cost(trials: pl.DataFrame, prices: PriceList) -> pl.DataFrame:
    """Adds `cost` (US dollars, by the formula of `cost_of`) and `cost_source`.

    Where the list has no price, the cost is what the agent itself reported; null where that is missing too.

    Args:
        trials: a frame of Trial, shape (trials, columns).
        prices: the list.
    """
    rows = []
    for model in trials["model"].drop_nulls().unique().sort():
        price = prices.of(model)
        if price:
            rows.append((model, price.input, price.cached, price.output, prices.write_factor(price) * price.input))
    schema = {
        "model": pl.String,
        "p_in": pl.Float64,
        "p_cached": pl.Float64,
        "p_out": pl.Float64,
        "p_write": pl.Float64,
    }
    cached, writes = pl.col("cached_tokens").fill_null(0), pl.col("cache_write_tokens").fill_null(0)
    fresh = pl.max_horizontal(pl.lit(0), pl.col("input_tokens") - cached - writes)
    dollars = (
        fresh * pl.col("p_in")
        + cached * pl.col("p_cached")
        + writes * pl.col("p_write")
        + pl.col("output_tokens") * pl.col("p_out")
    ) / MILLION
    known = pl.col("input_tokens").is_not_null() & pl.col("output_tokens").is_not_null()
    counted = known & pl.col("p_in").is_not_null()
    reported = pl.col("p_in").is_null() & pl.col("reported_cost").is_not_null()
    prices_frame = pl.DataFrame(rows, schema=schema, orient="row")
    priced = trials.join(prices_frame, on="model", how="left", maintain_order="left")
    return priced.with_columns(
        pl.when(counted).then(dollars).when(reported).then("reported_cost").alias("cost"),
        pl.when(counted).then(pl.lit(PRICED)).when(reported).then(pl.lit(REPORTED)).alias("cost_source"),
    ).drop("p_in", "p_cached", "p_out", "p_write")


def price_notes(trials: pl.DataFrame, prices: PriceList) -> list[str]:
    """What a reader must know of the costs: no price, cache writes that nobody recorded, trials without a cost."""
    notes = []
    for model in trials["model"].drop_nulls().unique().sort():
        price = prices.of(model)
        mine = trials.filter(pl.col("model") == model)
        if price is None:
            told = mine.filter(pl.col("cost_source") == REPORTED).height
            said = f": {told} of {mine.height} trials have the cost that their agent reported" if told else ""
            notes.append(f"model {model} is not in the price list{said}")
        elif prices.write_factor(price) != 1:
            blind = mine.filter(pl.col("cost").is_not_null() & pl.col("cache_write_tokens").is_null()).height
            if blind:
                notes.append(f"model {model}: {blind} trials have no record of cache writes; their cost is too low")
        if missing := mine["cost"].null_count():
            share = f"{missing} of {mine.height} trials ({missing / mine.height:.0%})"
            notes.append(f"model {model}: the cost of {share} is not known; means of cost are over the others")
    return notes
