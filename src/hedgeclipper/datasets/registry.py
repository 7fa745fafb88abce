"""What is known about each data set of the paper: plain data, nothing that reads or downloads."""

from __future__ import annotations

from dataclasses import dataclass

_LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
_SSL_BOOK = "http://olivier.chapelle.cc/ssl-book"
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"


@dataclass(frozen=True)
class OriginalFile:
    """One file as its makers publish it.

    Attributes
    ----------
    name : str
        Where it lies below the data folder; ``/`` parts folders.
    url : str or None
        Where it can be downloaded; None if that needs an account.
    sha256 : str or None
        Its published SHA-256; None if none has been published.
    size : int or None
        Its published number of bytes.
    """

    name: str
    url: str | None = None
    sha256: str | None = None
    size: int | None = None


@dataclass(frozen=True)
class Dataset:
    """A data set of the paper.

    Attributes
    ----------
    name : str
        The paper's name.
    title : str
        What is to be told from what, in one sentence.
    n_rows, n_columns : int
        The shape of all rows with a label.
    n_train : int
        How many of them are training rows; ``n_rows`` where the file has no test rows.
    archives : tuple of str
        NumPy archives that hold it: the labeled rows, then the unlabeled ones if they are apart.
    layout : str
        How the original files are laid out, one that ``originals`` can read; "" if none is.
    originals : tuple of OriginalFile
        The files as published.
    origin : str
        Where they come from, for the reader of a message.
    license : str
        Terms of use.
    n_unlabeled : int
        Rows that have no label.
    is_sparse : bool
        Whether the rows are given as a sparse array.
    named_columns : tuple of str
        Names of the columns; ``column_1`` and so on where empty.
    target_name : str
        Name of the label in a frame.
    is_bundled : bool
        Whether the package brings it.
    """

    name: str
    title: str
    n_rows: int
    n_columns: int
    n_train: int
    archives: tuple[str, ...]
    layout: str
    originals: tuple[OriginalFile, ...]
    origin: str
    license: str
    n_unlabeled: int = 0
    is_sparse: bool = False
    named_columns: tuple[str, ...] = ()
    target_name: str = "target"
    is_bundled: bool = False

    @property
    def feature_names(self) -> list[str]:
        """The names of the columns."""
        numbered = (f"column_{number}" for number in range(1, self.n_columns + 1))
        return list(self.named_columns or numbered)

    @property
    def size_in_words(self) -> str:
        """How many rows and columns there are, as a sentence."""
        words = f"{self.n_rows:,} rows x {self.n_columns:,} columns"
        if self.n_train < self.n_rows:
            words += f", the first {self.n_train:,} rows for training"
        if self.n_unlabeled:
            words += f"; {self.n_unlabeled:,} more without labels"
        return words + "."


_COVTYPE_COLUMNS = (
    "Elevation",
    "Aspect",
    "Slope",
    "Horizontal_Distance_To_Hydrology",
    "Vertical_Distance_To_Hydrology",
    "Horizontal_Distance_To_Roadways",
    "Hillshade_9am",
    "Hillshade_Noon",
    "Hillshade_3pm",
    "Horizontal_Distance_To_Fire_Points",
    *(f"Wilderness_Area{number}" for number in range(1, 5)),
    *(f"Soil_Type{number}" for number in range(1, 41)),
)
_CREDIT_COLUMNS = (
    "RevolvingUtilizationOfUnsecuredLines",
    "age",
    "NumberOfTime30-59DaysPastDueNotWorse",
    "DebtRatio",
    "MonthlyIncome",
    "NumberOfOpenCreditLinesAndLoans",
    "NumberOfTimes90DaysLate",
    "NumberRealEstateLoansOrLines",
    "NumberOfTime60-89DaysPastDueNotWorse",
    "NumberOfDependents",
)
_SUSY_COLUMNS = (
    "lepton_1_pT",
    "lepton_1_eta",
    "lepton_1_phi",
    "lepton_2_pT",
    "lepton_2_eta",
    "lepton_2_phi",
    "missing_energy_magnitude",
    "missing_energy_phi",
    "MET_rel",
    "axial_MET",
    "M_R",
    "M_TR_2",
    "R",
    "MT2",
    "S_R",
    "M_Delta_R",
    "dPhi_r_b",
    "cos_theta_r1",
)
_HIGGS_COLUMNS = (
    "lepton_pT",
    "lepton_eta",
    "lepton_phi",
    "missing_energy_magnitude",
    "missing_energy_phi",
    *(f"jet_{jet}_{quantity}" for jet in range(1, 5) for quantity in ("pt", "eta", "phi", "b-tag")),
    "m_jj",
    "m_jjj",
    "m_lv",
    "m_jlv",
    "m_bb",
    "m_wbb",
    "m_wwbb",
)

N_PLACES_SECSTR, N_SYMBOLS_SECSTR = 15, 21
_SECSTR_COLUMNS = tuple(
    f"place_{place}_symbol_{symbol}"
    for place in range(1, N_PLACES_SECSTR + 1)
    for symbol in range(N_SYMBOLS_SECSTR)
)

DATASETS = (
    Dataset(
        name="kagg-prot",
        title="Does a molecule elicit a biological response?",
        n_rows=3751,
        n_columns=1776,
        n_train=3751,
        n_unlabeled=2501,
        archives=("kagg_prot.npz", "kagg_prot_unlabeled.npz"),
        layout="kaggle",
        originals=(OriginalFile("kagg-prot/train.csv"), OriginalFile("kagg-prot/test.csv")),
        origin="Kaggle, Predicting a Biological Response (needs an account): "
        "https://www.kaggle.com/c/bioresponse/data",
        license="the rules of the competition",
        named_columns=tuple(f"D{number}" for number in range(1, 1777)),
        target_name="Activity",
    ),
    Dataset(
        name="ssl-text",
        title="Is a posting to a newsgroup about IBM computers?",
        n_rows=1500,
        n_columns=11960,
        n_train=1500,
        archives=("ssl_text.npz",),
        layout="ssl_text",
        originals=tuple(
            OriginalFile(name, f"{_SSL_BOOK}/{name}")
            for name in (
                "SSL,set=9,data.mat",
                "SSL,set=9,splits,labeled=10.mat",
                "SSL,set=9,splits,labeled=100.mat",
            )
        ),
        origin="Chapelle, Schölkopf and Zien, Semi-Supervised Learning (2006): "
        f"{_SSL_BOOK}/benchmarks.html",
        license="none stated; published for research with the book",
        is_sparse=True,
    ),
    Dataset(
        name="kagg-cred",
        title="Will a borrower be 90 days late within two years?",
        n_rows=150_000,
        n_columns=10,
        n_train=150_000,
        n_unlabeled=101_503,
        archives=("kagg_cred.npz", "kagg_cred_unlabeled.npz"),
        layout="kaggle",
        originals=(
            OriginalFile("kagg-cred/cs-training.csv"),
            OriginalFile("kagg-cred/cs-test.csv"),
        ),
        origin="Kaggle, Give Me Some Credit (needs an account): "
        "https://www.kaggle.com/c/GiveMeSomeCredit/data",
        license="the rules of the competition",
        named_columns=_CREDIT_COLUMNS,
        target_name="SeriousDlqin2yrs",
    ),
    Dataset(
        name="a1a",
        title="Who earns more than 50,000 dollars a year?",
        n_rows=32_561,
        n_columns=123,
        n_train=1605,
        archives=("a1a.npz",),
        layout="libsvm",
        originals=(
            OriginalFile("a1a", f"{_LIBSVM}/a1a"),
            OriginalFile("a1a.t", f"{_LIBSVM}/a1a.t"),
        ),
        origin="LIBSVM data, a1a, made from the Adult data of the UCI repository "
        "(Becker and Kohavi, 1996): https://doi.org/10.24432/C5XW20",
        license="CC BY 4.0",
        is_sparse=True,
        target_name="income_over_50k",
        is_bundled=True,
    ),
    Dataset(
        name="w1a",
        title="Does a web page belong to a certain category?",
        n_rows=49_749,
        n_columns=300,
        n_train=2477,
        archives=("w1a.npz",),
        layout="libsvm",
        originals=(
            OriginalFile("w1a", f"{_LIBSVM}/w1a"),
            OriginalFile("w1a.t", f"{_LIBSVM}/w1a.t"),
        ),
        origin=f"LIBSVM data, w1a, made by Platt (1998): {_LIBSVM}.html#w1a",
        license="none stated",
        is_sparse=True,
    ),
    Dataset(
        name="covtype",
        title="Is a patch of forest covered by lodgepole pine, class 2 of seven?",
        n_rows=581_012,
        n_columns=54,
        n_train=581_012,
        archives=("covtype.npz",),
        layout="covtype",
        originals=(
            OriginalFile(
                "covtype.data.gz",
                "https://ndownloader.figshare.com/files/5976039",
                sha256="614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
            ),
        ),
        origin="UCI Covertype (Blackard, 1998): https://doi.org/10.24432/C50K5N",
        license="CC BY 4.0",
        named_columns=_COVTYPE_COLUMNS,
        target_name="lodgepole_pine",
    ),
    Dataset(
        name="ssl-secstr",
        title="Is the middle one of 15 amino acids part of a helix or sheet, or of a coil?",
        n_rows=83_679,
        n_columns=N_PLACES_SECSTR * N_SYMBOLS_SECSTR,
        n_train=83_679,
        n_unlabeled=1_189_472,
        archives=("ssl_secstr.npz",),
        layout="",
        originals=(),
        origin="Chapelle, Schölkopf and Zien, Semi-Supervised Learning (2006): "
        f"{_SSL_BOOK}/benchmarks.html. The archive has the arrays T (83,679 x 15 symbols from 0 to "
        "20), y (0 or 1) and T_extra (1,189,472 x 15)",
        license="none stated; published for research with the book",
        is_sparse=True,
        named_columns=_SECSTR_COLUMNS,
    ),
    Dataset(
        name="SUSY",
        title="Did a simulated collision make supersymmetric particles?",
        n_rows=5_000_000,
        n_columns=18,
        n_train=4_500_000,
        archives=("susy.npz",),
        layout="label_first",
        originals=(
            OriginalFile(
                "SUSY.csv.gz",
                f"{_UCI}/00279/SUSY.csv.gz",
                sha256="be56cb5598da8ece4b13912230ee713bab8b3431a7d118e0054ffdf3a2f25664",
            ),
        ),
        origin="UCI SUSY (Whiteson, 2014): https://doi.org/10.24432/C54606",
        license="CC BY 4.0",
        named_columns=_SUSY_COLUMNS,
    ),
    Dataset(
        name="HIGGS",
        title="Did a simulated collision make a Higgs boson?",
        n_rows=11_000_000,
        n_columns=28,
        n_train=10_500_000,
        archives=("higgs.npz",),
        layout="label_first",
        originals=(
            OriginalFile(
                "HIGGS.csv.gz",
                f"{_UCI}/00280/HIGGS.csv.gz",
                sha256="ea302c18164d4e3d916a1e2e83a9a8d07069fa6ebc7771e4c0540d54e593b698",
                size=2_816_407_858,
            ),
        ),
        origin="UCI HIGGS (Whiteson, 2014): https://doi.org/10.24432/C5V312",
        license="CC BY 4.0",
        named_columns=_HIGGS_COLUMNS,
    ),
    Dataset(
        name="epsilon",
        title="An artificial task of the Pascal Large Scale Learning Challenge, rows scaled to 1.",
        n_rows=500_000,
        n_columns=2000,
        n_train=400_000,
        archives=("epsilon.npz",),
        layout="libsvm",
        originals=(
            OriginalFile(
                "epsilon_normalized.bz2",
                f"{_LIBSVM}/epsilon_normalized.bz2",
                sha256="aff916d4f97f18d286558ca088d2a9f7e1fcee9376539a5aa6ef5b7ef9dfa978",
            ),
            OriginalFile(
                "epsilon_normalized.t.bz2",
                f"{_LIBSVM}/epsilon_normalized.t.bz2",
                sha256="cb299295ad11e200696eaa3050f5d8cf700eaa9c65e6aa859bda959f8669458b",
            ),
        ),
        origin=f"LIBSVM data, epsilon: {_LIBSVM}.html#epsilon",
        license="none stated",
    ),
    Dataset(
        name="webspam-uni",
        title="Is a web page spam, by the share of each of 254 characters?",
        n_rows=350_000,
        n_columns=254,
        n_train=350_000,
        archives=("webspam_uni.npz",),
        layout="libsvm",
        originals=(
            OriginalFile(
                "webspam_wc_normalized_unigram.svm.xz",
                f"{_LIBSVM}/webspam_wc_normalized_unigram.svm.xz",
            ),
        ),
        origin=f"LIBSVM data, webspam (unigram), of Webb et al. (2006): {_LIBSVM}.html#webspam",
        license="none stated",
        is_sparse=True,
    ),
)


def dataset_names() -> list[str]:
    """Return the paper's names of its data sets, in the order of its table.

    Examples
    --------
    >>> dataset_names()[:4]
    ['kagg-prot', 'ssl-text', 'kagg-cred', 'a1a']
    """
    return [dataset.name for dataset in DATASETS]


def find_dataset(name: str) -> Dataset:
    """Return the record of a data set; case does not matter, and ``_`` stands for ``-``."""
    wanted = str(name).lower().replace("_", "-")
    for dataset in DATASETS:
        if dataset.name.lower() == wanted:
            return dataset
    raise ValueError(f"There is no data set {name!r}. Choose one of {', '.join(dataset_names())}.")
