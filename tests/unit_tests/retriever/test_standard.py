"""LangChain's own tests of a retriever."""

from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_memkit import CapsuleRetriever


def shelf():
    """Make a retriever over a vector store of six notes."""
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=8))
    store.add_documents([Document(f"Note {n} on kites.") for n in range(6)])
    return store.as_retriever()


class TestCapsuleRetriever(RetrieversIntegrationTests):
    """The suite, over an in-memory vector store."""

    @property
    def retriever_constructor(self):
        return CapsuleRetriever

    @property
    def retriever_constructor_params(self):
        return {"base_retriever": shelf()}

    @property
    def retriever_query_example(self):
        return "kites"
